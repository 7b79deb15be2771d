/// A section of a configuration file: every key is asked for once, with its type, bounds and default.
///
/// What was asked for is recorded, defaults included, so that the resolved configuration can be written back; what
/// was never asked for is an unknown key. Messages name the file, the line and the key's full path. A key without a
/// value (`key:` or `key: ~`) counts as absent.
#pragma once

#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor.h"

namespace penumbra {

struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;  ///< the lower bound itself is not allowed
};
inline constexpr Bounds any_number{};
inline constexpr Bounds positive{0, std::numeric_limits<double>::infinity(), true};
inline constexpr Bounds not_negative{0};

/// A handle: copies, and the sections taken from it, record into the same configuration.
class Settings {
 public:
  static Settings from_file(const std::filesystem::path& path);
  /// `name` stands for the file in messages; relative paths are taken from `folder`.
  static Settings from_text(const std::string& text, const std::string& name,
                            const std::filesystem::path& folder = ".");

  Settings(Settings&&) noexcept;
  Settings(const Settings&);
  Settings& operator=(Settings&&) noexcept;
  ~Settings();

  /// Applies "a.b=value", the command line's --set, before anything is asked for; sections are made as needed, a
  /// list's members are numbered from 0, the value is YAML.
  void assign(const std::string& assignment);

  /// Puts a value, as YAML, where "a.b" has none: a preset's, or one derived from the problem. False where one was
  /// given.
  bool set_default(const std::string& path, const std::string& value);

  bool has(const std::string& key) const;
  bool is_section(const std::string& key) const;
  bool is_list(const std::string& key) const;
  bool is_number(const std::string& key) const;

  double number(const std::string& key, Bounds bounds = any_number);
  double number(const std::string& key, double otherwise, Bounds bounds = any_number);
  int64_t integer(const std::string& key, Bounds bounds = any_number);
  int64_t integer(const std::string& key, int64_t otherwise, Bounds bounds = any_number);
  bool flag(const std::string& key, bool otherwise);
  std::string text(const std::string& key);
  std::string text(const std::string& key, const std::string& otherwise);
  /// One of a list of words.
  std::string choice(const std::string& key, const std::vector<std::string>& words);
  std::string choice(const std::string& key, const std::vector<std::string>& words, const std::string& otherwise);
  std::vector<double> numbers(const std::string& key);
  std::vector<double> numbers(const std::string& key, const std::vector<double>& otherwise);
  /// A list of texts; an absent one is empty.
  std::vector<std::string> texts(const std::string& key);
  /// A list of [from, to] with from <= to; an absent one is empty.
  std::vector<std::pair<double, double>> intervals(const std::string& key);
  /// A file that must exist; relative to the configuration's folder, resolved to an absolute path.
  std::filesystem::path file(const std::string& key);
  /// The same for a folder.
  std::filesystem::path folder(const std::string& key);
  /// A sub-section; an absent one is an empty section.
  Settings section(const std::string& key);
  /// A list of sub-sections; at least one.
  std::vector<Settings> sections(const std::string& key);

  /// Accepts a key without asking for it: it belongs to another command and is not recorded.
  void ignore(const std::string& key);

  /// Throws if a key was given that nothing asked for, here or in a sub-section. To be called at the root.
  void finish() const;

  /// An error about this key: "file.yaml:12: sampler.step_size: <message>".
  [[noreturn]] void fail(const std::string& key, const std::string& message) const;

  /// Counts a file that the configuration names only indirectly, as by the name of a shipped prior, among files().
  void note_file(const std::filesystem::path& path);

  /// Every file asked for or noted so far, in this and all other sections of the configuration.
  std::vector<std::filesystem::path> files() const;

  /// The resolved configuration as YAML text.
  std::string resolved() const;

 private:
  struct Impl;
  explicit Settings(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace penumbra
