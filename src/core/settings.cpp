#include "core/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/nearest.h"
#include "core/yaml_path.h"

namespace penumbra {
namespace {

using yaml::Kind;
using yaml::Value;
using yaml::ValuePtr;

constexpr int from_the_command_line = -1;

struct Origin {
  std::string name;
  std::filesystem::path folder;
  mutable std::vector<std::filesystem::path> files = {};
};

std::string read_text(const std::filesystem::path& path) {
  constexpr std::streamsize limit = (16 << 20) + 1;  // one more than yaml::parse accepts
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) input_error("{}: is a folder; expected a YAML file", path.string());
  std::ifstream stream(path, std::ios::binary);
  if (!stream) input_error("{}: cannot be read; expected a YAML file", path.string());
  std::string text(limit, '\0');
  stream.read(text.data(), limit);
  if (stream.bad()) machine_error("{}: reading failed", path.string());
  text.resize(stream.gcount());
  return text;
}

std::string describe(const std::string& noun, Bounds bounds) {
  const bool low = std::isfinite(bounds.low), high = std::isfinite(bounds.high);
  if (low && high) return fmt::format("{} in {}{}, {}]", noun, bounds.low_open ? '(' : '[', bounds.low, bounds.high);
  if (low) return fmt::format("{} {} {}", noun, bounds.low_open ? ">" : ">=", bounds.low);
  if (high) return fmt::format("{} <= {}", noun, bounds.high);
  return noun;
}

bool inside(double number, Bounds bounds) {
  return (bounds.low_open ? number > bounds.low : number >= bounds.low) && number <= bounds.high;
}

std::optional<bool> as_flag(const Value& value) {
  if (value.kind != Kind::plain) return std::nullopt;
  if (value.text == "true" || value.text == "True" || value.text == "TRUE") return true;
  if (value.text == "false" || value.text == "False" || value.text == "FALSE") return false;
  return std::nullopt;
}

std::optional<std::string> as_text(const Value& value) {
  if (value.kind != Kind::plain && value.kind != Kind::quoted) return std::nullopt;
  return value.text;
}

using Interval = std::pair<double, double>;

template <typename T>
std::optional<std::vector<T>> as_list(const Value& value, std::optional<T> (*convert)(const Value&)) {
  if (value.kind != Kind::list) return std::nullopt;
  std::vector<T> list;
  for (const auto& item : value.items) {
    auto converted = convert(*item);
    if (!converted) return std::nullopt;
    list.push_back(std::move(*converted));
  }
  return list;
}

std::optional<std::vector<double>> as_numbers(const Value& value) { return as_list<double>(value, yaml::as_number); }

std::optional<std::vector<std::string>> as_texts(const Value& value) { return as_list<std::string>(value, as_text); }

std::optional<Interval> as_interval(const Value& value) {
  const auto ends = as_numbers(value);
  if (!ends || ends->size() != 2 || !(ends->front() <= ends->back())) return std::nullopt;
  return Interval{ends->front(), ends->back()};
}

std::optional<std::vector<Interval>> as_intervals(const Value& value) { return as_list<Interval>(value, as_interval); }

// A default that is not finite ("no limit") has no YAML number that we accept; absent stands for it.
std::string format(double number) { return std::isfinite(number) ? fmt::format("{}", number) : std::string{}; }
std::string format(int64_t number) { return fmt::format("{}", number); }
std::string format(bool flag) { return flag ? "true" : "false"; }
std::string format(const std::string& text) { return yaml::format_text(text); }
std::string format(const Interval& interval) { return fmt::format("[{}, {}]", interval.first, interval.second); }
template <typename T>
std::string format(const std::vector<T>& values) {
  std::vector<std::string> list;
  for (const auto& value : values)
    if (list.emplace_back(format(value)).empty()) return {};  // of a number that is not finite
  return fmt::format("[{}]", fmt::join(list, ", "));
}

}  // namespace

struct Settings::Impl {
  /// What became of a key: a scalar or list as YAML text, or sections.
  struct Asked {
    std::string key;
    std::string text;
    std::vector<std::shared_ptr<Impl>> sections;
    bool is_list = false;
  };

  std::shared_ptr<const Origin> origin;
  std::string path;  // "sampler.annealing", empty at the root
  ValuePtr value;    // a map, or null for an absent section
  std::vector<Asked> asked;

  /// Null where the key is absent or has no value.
  const Value* find(const std::string& key) const {
    const auto* entry = value->find(key);
    return entry && entry->value->kind != Kind::null ? entry->value.get() : nullptr;
  }

  std::string full(const std::string& key) const { return path.empty() ? key : key.empty() ? path : path + "." + key; }

  [[noreturn]] void fail(int line, const std::string& key, const std::string& message) const {
    if (line == from_the_command_line) input_error("--set: {}: {}", excerpt(full(key)), message);
    if (line > 0) input_error("{}:{}: {}: {}", origin->name, line, excerpt(full(key)), message);
    input_error("{}: {}: {}", origin->name, excerpt(full(key)), message);
  }

  /// Paths start from the file's folder; those of --set from where it is typed, if something is there.
  std::filesystem::path resolved(const std::string& key, const std::string& given, std::error_code& error) const {
    const auto* value = find(key);
    if (value && value->line == from_the_command_line && std::filesystem::exists(given, error))
      return std::filesystem::absolute(given, error).lexically_normal();
    return std::filesystem::absolute(origin->folder / given, error).lexically_normal();
  }

  Asked& ask(const std::string& key) {
    for (auto& record : asked)
      if (record.key == key) return record;
    return asked.emplace_back(Asked{.key = key, .text = {}, .sections = {}});
  }

  std::shared_ptr<Impl> child(const std::string& key, const ValuePtr& of) const {
    return std::make_shared<Impl>(Impl{origin, full(key), of, {}});
  }

  /// The key's value by way of `convert`, which says what it accepts with an empty result; recorded.
  template <typename T>
  T get(const std::string& key, const std::optional<T>& otherwise, const std::string& expected,
        const std::function<std::optional<T>(const Value&)>& convert) {
    const auto* found = find(key);
    if (!found && !otherwise) fail(0, key, "missing; expected " + expected);
    const auto result = found ? convert(*found) : otherwise;
    if (!result) fail(found->line, key, fmt::format("expected {}, found {}", expected, yaml::describe(*found)));
    ask(key).text = format(*result);
    return *result;
  }

  double number(const std::string& key, std::optional<double> otherwise, Bounds bounds) {
    return get<double>(key, otherwise, describe("a number", bounds), [bounds](const Value& found) {
      const auto number = yaml::as_number(found);
      return number && inside(*number, bounds) ? number : std::nullopt;
    });
  }

  int64_t integer(const std::string& key, std::optional<int64_t> otherwise, Bounds bounds) {
    return get<int64_t>(key, otherwise, describe("an integer", bounds), [bounds](const Value& found) {
      const auto number = yaml::as_integer(found);
      return number && inside(static_cast<double>(*number), bounds) ? number : std::nullopt;
    });
  }

  std::string choice(const std::string& key, const std::vector<std::string>& words,
                     const std::optional<std::string>& otherwise) {
    const auto expected = fmt::format("one of {}", fmt::join(words, ", "));
    const auto word = get<std::string>(key, otherwise, expected, as_text);
    const auto* found = find(key);
    if (found && std::find(words.begin(), words.end(), word) == words.end())
      fail(found->line, key, fmt::format("expected {}, found {}{}", expected, excerpt(word), suggestion(word, words)));
    return word;
  }

  void finish() const {
    std::vector<std::string> known;
    for (const auto& record : asked) known.push_back(record.key);
    for (const auto& [key, given] : value->entries)
      if (std::find(known.begin(), known.end(), key) == known.end())
        fail(given->line, key,
             fmt::format("unknown key{} (known: {})", suggestion(key, known), fmt::join(known, ", ")));
    for (const auto& record : asked)
      for (const auto& section : record.sections) section->finish();
  }

  /// The section as lines of YAML, in the order of asking; none where there is nothing to say.
  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    for (const auto& record : asked) {
      const auto key = yaml::format_text(record.key) + ":";
      if (!record.text.empty()) all.push_back(key + " " + record.text);
      bool headed = false;
      for (const auto& section : record.sections) {
        auto inner = section->lines();
        if (inner.empty() && record.is_list) inner.emplace_back("{}");
        if (inner.empty()) continue;
        if (!std::exchange(headed, true)) all.push_back(key);
        for (size_t i = 0; i < inner.size(); ++i)
          all.push_back((!record.is_list ? "  " : i == 0 ? "  - " : "    ") + inner[i]);
      }
    }
    return all;
  }
};

Settings::Settings(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Settings::Settings(Settings&&) noexcept = default;
Settings::Settings(const Settings&) = default;
Settings& Settings::operator=(Settings&&) noexcept = default;
Settings::~Settings() = default;

Settings Settings::from_file(const std::filesystem::path& path) {
  const auto folder = path.parent_path();
  return from_text(read_text(path), path.string(), folder.empty() ? "." : folder);
}

Settings Settings::from_text(const std::string& text, const std::string& name, const std::filesystem::path& folder) {
  const auto value = yaml::parse(text, name);
  if (value->kind != Kind::map && value->kind != Kind::null)
    input_error("{}:{}: expected keys and values at the top, found {}", name, value->line, yaml::describe(*value));
  return Settings(std::make_shared<Impl>(Impl{std::make_shared<Origin>(Origin{name, folder}), "", value, {}}));
}

void Settings::assign(const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos) input_error("--set {}: expected key=value", excerpt(assignment));
  const auto text = assignment.substr(equals + 1);
  // An explicit null, ~, asks for the default; nothing is more likely a variable of a script that was empty.
  if (text.find_first_not_of(" \t") == text.npos) input_error("--set {}: expected a value", excerpt(assignment));
  const auto value = yaml::parse(text, "--set " + excerpt(assignment));
  yaml::set_line(*value, from_the_command_line);
  auto* place = &impl_->value;
  for (const auto& part : yaml::split_path(assignment.substr(0, equals), assignment))
    place = &yaml::member(**place, part, assignment);
  *place = value;
}

void Settings::note_file(const std::filesystem::path& path) {
  impl_->origin->files.push_back(std::filesystem::absolute(path).lexically_normal());
}

bool Settings::set_default(const std::string& path, const std::string& value) {
  const auto dot = path.find('.');
  if (dot != std::string::npos) return section(path.substr(0, dot)).set_default(path.substr(dot + 1), value);
  auto& place = yaml::member(*impl_->value, path, path);
  if (place && place->kind != Kind::null) return false;
  place = yaml::parse(value, path);
  yaml::set_line(*place, 0);
  return true;
}

std::vector<std::filesystem::path> Settings::files() const { return impl_->origin->files; }

bool Settings::has(const std::string& key) const { return impl_->find(key) != nullptr; }

bool Settings::is_section(const std::string& key) const {
  const auto* found = impl_->find(key);
  return found && found->kind == Kind::map;
}

bool Settings::is_list(const std::string& key) const {
  const auto* found = impl_->find(key);
  return found && found->kind == Kind::list;
}

bool Settings::is_number(const std::string& key) const {
  const auto* found = impl_->find(key);
  return found && yaml::as_number(*found);
}

void Settings::ignore(const std::string& key) { impl_->ask(key); }

double Settings::number(const std::string& key, Bounds bounds) { return impl_->number(key, {}, bounds); }
double Settings::number(const std::string& key, double otherwise, Bounds bounds) {
  return impl_->number(key, otherwise, bounds);
}
int64_t Settings::integer(const std::string& key, Bounds bounds) { return impl_->integer(key, {}, bounds); }
int64_t Settings::integer(const std::string& key, int64_t otherwise, Bounds bounds) {
  return impl_->integer(key, otherwise, bounds);
}

bool Settings::flag(const std::string& key, bool otherwise) {
  return impl_->get<bool>(key, otherwise, "true or false", as_flag);
}

std::string Settings::text(const std::string& key) { return impl_->get<std::string>(key, {}, "text", as_text); }
std::string Settings::text(const std::string& key, const std::string& otherwise) {
  return impl_->get<std::string>(key, otherwise, "text", as_text);
}

std::string Settings::choice(const std::string& key, const std::vector<std::string>& words) {
  return impl_->choice(key, words, {});
}
std::string Settings::choice(const std::string& key, const std::vector<std::string>& words,
                             const std::string& otherwise) {
  return impl_->choice(key, words, otherwise);
}

std::vector<double> Settings::numbers(const std::string& key) {
  return impl_->get<std::vector<double>>(key, {}, "a list of numbers", as_numbers);
}
std::vector<double> Settings::numbers(const std::string& key, const std::vector<double>& otherwise) {
  return impl_->get<std::vector<double>>(key, otherwise, "a list of numbers", as_numbers);
}

std::vector<std::string> Settings::texts(const std::string& key) {
  return impl_->get<std::vector<std::string>>(key, std::vector<std::string>{}, "a list of texts", as_texts);
}

std::vector<std::pair<double, double>> Settings::intervals(const std::string& key) {
  return impl_->get<std::vector<Interval>>(key, std::vector<Interval>{}, "a list of [from, to] with from <= to",
                                           as_intervals);
}

std::filesystem::path Settings::file(const std::string& key) {
  const auto given = impl_->get<std::string>(key, {}, "the path of a file", as_text);
  std::error_code error;
  const auto path = impl_->resolved(key, given, error);
  const bool is_file = !error && given.find('\0') == std::string::npos && std::filesystem::exists(path, error) &&
                       !std::filesystem::is_directory(path, error);
  if (!is_file)
    fail(key,
         fmt::format("expected an existing file, found {} (looked for {})", excerpt(given), shown_path(path.string())));
  impl_->ask(key).text = format(path.string());
  impl_->origin->files.push_back(path);
  return path;
}

std::filesystem::path Settings::folder(const std::string& key) {
  const auto given = impl_->get<std::string>(key, {}, "the path of a folder", as_text);
  std::error_code error;
  const auto path = impl_->resolved(key, given, error);
  if (error || given.find('\0') != std::string::npos || !std::filesystem::is_directory(path, error))
    fail(key, fmt::format("expected an existing folder, found {} (looked for {})", excerpt(given),
                          shown_path(path.string())));
  impl_->ask(key).text = format(path.string());
  return path;
}

Settings Settings::section(const std::string& key) {
  const auto* found = impl_->find(key);
  if (found && found->kind != Kind::map) fail(key, fmt::format("expected a section, found {}", yaml::describe(*found)));
  auto& record = impl_->ask(key);
  if (record.sections.empty())
    record.sections = {impl_->child(key, found ? impl_->value->find(key)->value : std::make_shared<Value>())};
  return Settings(record.sections.front());
}

std::vector<Settings> Settings::sections(const std::string& key) {
  const std::string expected = "expected a list of at least one section";
  const auto* found = impl_->find(key);
  if (!found) fail(key, "missing; " + expected);
  if (found->kind != Kind::list || found->items.empty())
    fail(key,
         fmt::format("{}, found {}", expected, found->kind == Kind::list ? "an empty list" : yaml::describe(*found)));
  for (size_t i = 0; i < found->items.size(); ++i)
    if (const auto& item = *found->items[i]; item.kind != Kind::map)
      impl_->fail(item.line, fmt::format("{}.{}", key, i), "expected a section, found " + yaml::describe(item));

  auto& record = impl_->ask(key);
  record.is_list = true;
  if (record.sections.empty())
    for (size_t i = 0; i < found->items.size(); ++i)
      record.sections.push_back(impl_->child(fmt::format("{}.{}", key, i), found->items[i]));
  std::vector<Settings> all;
  for (const auto& section : record.sections) all.push_back(Settings(section));
  return all;
}

void Settings::finish() const { impl_->finish(); }

void Settings::fail(const std::string& key, const std::string& message) const {
  const auto* entry = impl_->value->find(key);
  impl_->fail(entry ? entry->value->line : key.empty() ? impl_->value->line : 0, key, message);
}

std::string Settings::resolved() const {
  const auto lines = impl_->lines();
  return lines.empty() ? "{}\n" : fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace penumbra
