#include "networks/option_reader.h"

#include "core/error.h"
#include "core/nearest.h"

namespace penumbra {

namespace {

using nlohmann::json;

/// "1,2,4" or Python's "(1, 2, 4)".
json parse_list(const std::string& text) {
  const bool bracketed = text.size() >= 2 && (text.front() == '(' || text.front() == '[');
  return json::parse(fmt::format("[{}]", bracketed ? text.substr(1, text.size() - 2) : text), nullptr, false);
}

}  // namespace

OptionReader::OptionReader(const json& object, std::string name) : object_(object), name_(std::move(name)) {
  if (!object_.is_object())
    input_error("{}: architecture: expected an object of options, found {}", name_, object_.type_name());
}

const json* OptionReader::find(const std::string& key) {
  asked_.insert(key);
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

int64_t OptionReader::integer(const std::string& key, int64_t otherwise, int64_t low, int64_t high) {
  const auto* value = find(key);
  if (value == nullptr) return otherwise;
  // As doubles: a number above 2^63 would come back negative.
  if (!value->is_number_integer() || value->get<double>() < static_cast<double>(low) ||
      value->get<double>() > static_cast<double>(high))
    fail(key, fmt::format("a whole number from {} to {}", low, high));
  return value->get<int64_t>();
}

double OptionReader::number(const std::string& key, double otherwise, double low, double high) {
  const auto* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_number() || !(value->get<double>() >= low && value->get<double>() <= high))
    fail(key, fmt::format("a number from {} to {}", low, high));
  return value->get<double>();
}

bool OptionReader::flag(const std::string& key, bool otherwise) {
  const auto* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) fail(key, "true or false");
  return value->get<bool>();
}

std::vector<double> OptionReader::numbers(const std::string& key, const std::vector<double>& otherwise, size_t most) {
  const auto* value = find(key);
  if (value == nullptr) return otherwise;
  const auto list = value->is_string()   ? parse_list(value->get<std::string>())
                    : value->is_number() ? json::array({*value})
                                         : *value;
  std::vector<double> numbers;
  if (list.is_array())
    for (const auto& item : list)
      if (item.is_number()) numbers.push_back(item.get<double>());
  if (!list.is_array() || numbers.size() != list.size() || numbers.size() > most)
    fail(key, fmt::format("a list of at most {} numbers", most));
  return numbers;
}

std::vector<double> OptionReader::channel_multiples(const std::vector<double>& otherwise, int64_t model_channels) {
  const auto multiples = numbers("channel_mult", otherwise, 12);
  if (multiples.empty()) fail("channel_mult", "at least one number");
  for (const double multiple : multiples) {
    const double channels = multiple * static_cast<double>(model_channels);
    if (!(channels >= 1 && channels <= 65536))
      input_error("{}: architecture.channel_mult: {} x {} channels: expected 1 to 65536", name_, multiple,
                  model_channels);
  }
  return multiples;
}

std::string OptionReader::text(const std::string& key, const std::string& otherwise) {
  const auto* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_string()) fail(key, "text");
  return value->get<std::string>();
}

void OptionReader::finish() const {
  for (const auto& [key, value] : object_.items())
    if (!asked_.contains(key))
      input_error("{}: architecture.{}: no such option{}", name_, excerpt(key),
                  suggestion(key, {asked_.begin(), asked_.end()}));
}

void OptionReader::fail(const std::string& key, const std::string& expected) const {
  const auto found = object_.find(key);
  input_error("{}: architecture.{}: expected {}, found {}", name_, key, expected,
              found == object_.end() ? "nothing" : excerpt(found->dump(-1, ' ', true, json::error_handler_t::replace)));
}

}  // namespace penumbra
