/// Reads an architecture's options one by one and knows in the end which were never asked for.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace penumbra {

class OptionReader {
 public:
  /// `name` stands for the file in messages.
  OptionReader(const nlohmann::json& object, std::string name);

  int64_t integer(const std::string& key, int64_t otherwise, int64_t low, int64_t high);
  double number(const std::string& key, double otherwise, double low, double high);
  bool flag(const std::string& key, bool otherwise);
  /// Numbers in a list, or in a text with commas ("1,2,4") as guided-diffusion's scripts have them; a number alone is a
  /// list of one.
  std::vector<double> numbers(const std::string& key, const std::vector<double>& otherwise, size_t most);
  /// `channel_mult`: factors for `model_channels`, one a level, at least one.
  std::vector<double> channel_multiples(const std::vector<double>& otherwise, int64_t model_channels);
  std::string text(const std::string& key, const std::string& otherwise);

  /// Takes note of a key without reading it.
  void accept(const std::string& key) { asked_.insert(key); }

  /// Throws InputError if there is a key that nothing asked for.
  void finish() const;

  [[noreturn]] void fail(const std::string& key, const std::string& expected) const;

 private:
  const nlohmann::json* find(const std::string& key);

  const nlohmann::json& object_;
  std::string name_;
  std::set<std::string> asked_;
};

}  // namespace penumbra
