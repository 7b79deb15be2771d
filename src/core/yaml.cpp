// yaml-cpp's events, not its nodes: an event handler can stop a hostile document (depth, aliases) while it is read.
#include "core/yaml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <charconv>
#include <cmath>
#include <map>
#include <sstream>
#include <unordered_set>

#include "core/error.h"
#include "core/nearest.h"

namespace penumbra::yaml {
namespace {

constexpr size_t largest_text = 16 << 20;
constexpr size_t deepest = 64;
// Aliases are copied, so a short text can ask for a huge tree: this bounds the tree, about half a million values.
constexpr size_t largest_tree = 64 << 20;
constexpr size_t cost_of_a_value = 128;
// yaml-cpp reads a line with brackets to its end before it hands anything over, at some hundred bytes a mark.
constexpr size_t most_marks = 1 << 20;

class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(const std::string& name) : name_(name) {}

  ValuePtr take() { return root_ ? root_ : std::make_shared<Value>(); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto value = make(Kind::null, mark);
    remember(anchor, value);
    add(value);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto at = anchors_.find(anchor);
    if (at == anchors_.end()) fail(mark.line + 1, "an alias inside the value that it stands for");
    add(copy(*at->second, stack_.size(), mark));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    auto value = make(is_text(tag, mark) ? Kind::quoted : Kind::plain, mark, text);
    remember(anchor, value);
    add(value);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Kind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Kind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    ValuePtr value;
    YAML::anchor_t anchor = YAML::NullAnchor;
    ValuePtr key;  // read, its value not yet
    std::unordered_set<std::string> keys;
  };

  [[noreturn]] void fail(int line, const std::string& message) const { input_error("{}:{}: {}", name_, line, message); }

  ValuePtr make(Kind kind, const YAML::Mark& mark, const std::string& text = {}) {
    cost_ += cost_of_a_value + text.size();
    if (cost_ > largest_tree) fail(mark.line + 1, "the document has too many values; expected a configuration");
    auto value = std::make_shared<Value>();
    value->kind = kind;
    value->line = mark.line + 1;
    value->text = text;
    return value;
  }

  ValuePtr copy(const Value& original, size_t depth, const YAML::Mark& mark) {
    check_depth(depth, mark);
    auto value = make(original.kind, mark, original.text);
    for (const auto& item : original.items) value->items.push_back(copy(*item, depth + 1, mark));
    for (const auto& entry : original.entries) {
      cost_ += entry.key.size();
      value->entries.push_back({entry.key, copy(*entry.value, depth + 1, mark)});
    }
    return value;
  }

  void check_depth(size_t depth, const YAML::Mark& mark) const {
    if (depth > deepest) fail(mark.line + 1, fmt::format("nested deeper than {} levels", deepest));
  }

  /// Whether the scalar is text whatever it looks like: quoted, or tagged so.
  bool is_text(const std::string& tag, const YAML::Mark& mark) const {
    constexpr std::string_view standard = "tag:yaml.org,2002:";
    if (tag == "!") return true;
    if (tag.empty() || tag == "?") return false;
    if (!tag.starts_with(standard)) fail(mark.line + 1, fmt::format("the tag {} has no meaning here", excerpt(tag)));
    return tag.substr(standard.size()) == "str";
  }

  void open(Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    check_depth(stack_.size() + 1, mark);
    is_text(tag, mark);
    stack_.push_back({make(kind, mark), anchor, nullptr, {}});
  }

  void close() {
    auto frame = std::move(stack_.back());
    stack_.pop_back();
    remember(frame.anchor, frame.value);
    add(frame.value);
  }

  void remember(YAML::anchor_t anchor, const ValuePtr& value) {
    if (anchor != YAML::NullAnchor) anchors_[anchor] = value;
  }

  void add(const ValuePtr& value) {
    if (stack_.empty()) {
      root_ = value;
      return;
    }
    auto& frame = stack_.back();
    if (frame.value->kind == Kind::list) {
      frame.value->items.push_back(value);
    } else if (!frame.key) {
      if (value->kind != Kind::plain && value->kind != Kind::quoted)
        fail(value->line, fmt::format("expected a word as key, found {}", describe(*value)));
      if (!frame.keys.insert(value->text).second)
        fail(value->line, fmt::format("{}: given twice", excerpt(value->text)));
      frame.key = value;
    } else {
      value->line = frame.key->line;
      frame.value->entries.push_back({frame.key->text, value});
      frame.key = nullptr;
    }
  }

  const std::string& name_;
  ValuePtr root_;
  std::vector<Frame> stack_;
  std::map<YAML::anchor_t, ValuePtr> anchors_;
  size_t cost_ = 0;
};

/// What has to be refused before yaml-cpp sees it: control characters, some of which it takes for the end of the text
/// and would drop the rest without a word, and more brackets and commas than it has room for.
void check_text(const std::string& text, const std::string& name) {
  constexpr std::string_view marks_of_yaml = "[]{},:";
  if (text.size() > largest_text)
    input_error("{}: larger than {} MiB; expected a configuration", name, largest_text >> 20);
  int line = 1;
  size_t marks = 0;
  for (const char c : text) {
    if (c == '\n') ++line;
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && c != '\n' && c != '\r' && c != '\t')
      input_error("{}:{}: control character \\x{:02x}; expected YAML text", name, line, byte);
    if (marks_of_yaml.find(c) != marks_of_yaml.npos && ++marks > most_marks)
      input_error("{}:{}: the document has too many values; expected a configuration", name, line);
  }
}

bool is_plain(const std::string& text) {
  static const std::unordered_set<std::string> words{"null", "true", "false", "yes", "no", "on",
                                                     "off",  "y",    "n",     "inf", "nan"};
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_/";
  constexpr std::string_view others = "0123456789.-";
  if (text.empty() || letters.find(text.front()) == letters.npos) return false;
  std::string lower;
  for (const char c : text) {
    if (letters.find(c) == letters.npos && others.find(c) == others.npos) return false;
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return !words.contains(lower);
}

/// from_chars knows no leading plus; "+-1" must not pass for it.
std::string_view digits(const std::string& text) {
  std::string_view view = text;
  if (view.size() > 1 && view[0] == '+' && view[1] != '-') view.remove_prefix(1);
  return view;
}

template <typename Number>
std::optional<Number> convert(const Value& value) {
  if (value.kind != Kind::plain) return std::nullopt;
  const auto view = digits(value.text);
  Number number{};
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), number);
  if (error != std::errc{} || end != view.data() + view.size()) return std::nullopt;
  return number;
}

}  // namespace

const Entry* Value::find(const std::string& key) const {
  for (const auto& entry : entries)
    if (entry.key == key) return &entry;
  return nullptr;
}

ValuePtr parse(const std::string& text, const std::string& name) {
  check_text(text, name);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    Builder builder(name);
    parser.HandleNextDocument(builder);
    Builder rest(name);
    if (parser.HandleNextDocument(rest)) input_error("{}: more than one YAML document; expected one", name);
    return builder.take();
  } catch (const YAML::Exception& error) {
    if (error.mark.is_null()) input_error("{}: not YAML: {}", name, excerpt(error.msg));
    input_error("{}:{}: not YAML: {}", name, error.mark.line + 1, excerpt(error.msg));
  }
}

std::optional<double> as_number(const Value& value) {
  const auto number = convert<double>(value);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<int64_t> as_integer(const Value& value) {
  if (const auto exact = convert<int64_t>(value)) return exact;
  constexpr double largest_exact = 9007199254740992;  // 2^53: above it a double skips whole numbers
  const auto number = as_number(value);
  if (!number || std::abs(*number) > largest_exact || std::trunc(*number) != *number) return std::nullopt;
  return static_cast<int64_t>(*number);
}

std::string format_text(const std::string& text) {
  if (is_plain(text)) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (quoted += '\\') += c;
    else if (byte < 0x20 || byte == 0x7f)
      quoted += fmt::format("\\x{:02x}", byte);
    else
      quoted += c;
  }
  return quoted + '"';
}

std::string format_flow(const Value& value) {
  std::vector<std::string> parts;
  for (const auto& item : value.items) parts.push_back(format_flow(*item));
  for (const auto& entry : value.entries)
    parts.push_back(fmt::format("{}: {}", format_text(entry.key), format_flow(*entry.value)));
  switch (value.kind) {
    case Kind::list:
      return fmt::format("[{}]", fmt::join(parts, ", "));
    case Kind::map:
      return fmt::format("{{{}}}", fmt::join(parts, ", "));
    case Kind::plain:
      return value.text;
    case Kind::quoted:
      return format_text(value.text);
    default:
      return "~";
  }
}

std::string describe(const Value& value) {
  switch (value.kind) {
    case Kind::null:
      return "nothing";
    case Kind::plain:
      return excerpt(value.text);
    case Kind::quoted:
      return fmt::format("the text \"{}\"", excerpt(value.text));
    case Kind::list:
      return "a list";
    case Kind::map:
      return "a section";
  }
  return {};
}

}  // namespace penumbra::yaml
