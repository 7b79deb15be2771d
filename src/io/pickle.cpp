// The opcodes are those of Python's pickletools. Of protocols 0 and 1 only what later ones still write is known.
#include "io/pickle.h"

#include <utility>

#include "core/error.h"
#include "core/nearest.h"
#include "io/cursor.h"

namespace penumbra::io {
namespace {

using Kind = Value::Kind;

constexpr size_t most_values = size_t{1} << 22;  // also the limit of the stack, of its marks and of the memo
constexpr size_t longest_class_name = 512;

class Machine {
 public:
  Machine(std::string_view bytes, const std::string& name) : in_(bytes, name), name_(name) {}

  Pickle run() {
    while (true) {
      at_ = in_.position();
      const auto opcode = static_cast<unsigned char>(in_.take(1)[0]);
      if (opcode == '.') break;
      if (!scalar(opcode) && !sized(opcode) && !container(opcode) && !stack(opcode) && !object(opcode))
        refuse("expected an opcode of protocol 2 to 5, found 0x{:02x}", opcode);
    }
    pickle_.root = pop();
    pickle_.size = in_.position();
    return std::move(pickle_);
  }

 private:
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    input_error("{}: pickle: byte {}: {}", name_, at_, fmt::format(format, std::forward<Args>(args)...));
  }

  ValueId make(Kind kind, int64_t integer = 0, std::string_view text = {}) {
    if (pickle_.values.size() >= most_values) refuse("expected at most {} values", most_values);
    auto& value = pickle_.values.emplace_back();
    value.kind = kind;
    value.integer = integer;
    value.text = text;
    return static_cast<ValueId>(pickle_.values.size() - 1);
  }

  void push(ValueId id) {
    if (stack_.size() >= most_values) refuse("expected at most {} values on the stack", most_values);
    stack_.push_back(id);
  }

  ValueId pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) refuse("expected a value on the stack");
    const auto id = stack_.back();
    stack_.pop_back();
    return id;
  }

  ValueId top() {
    const auto id = pop();
    stack_.push_back(id);
    return id;
  }

  /// Everything above the last mark, which goes too.
  std::vector<ValueId> pop_to_mark() {
    if (marks_.empty()) refuse("expected a mark on the stack");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<ValueId> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }

  std::vector<ValueId> pop_last(size_t count) {
    std::vector<ValueId> items(count);
    for (size_t i = count; i-- > 0;) items[i] = pop();
    return items;
  }

  void push_new(Kind kind, std::vector<ValueId> items) {
    const auto id = make(kind);
    pickle_.values[id].items = std::move(items);
    push(id);
  }

  bool scalar(unsigned char opcode) {
    switch (opcode) {
      case 'N':
        return push(make(Kind::none)), true;
      case 0x88:  // NEWTRUE
      case 0x89:  // NEWFALSE
        return push(make(Kind::boolean, opcode == 0x88)), true;
      case 'J':
        return push(make(Kind::integer, static_cast<int32_t>(in_.number(4)))), true;
      case 'K':
        return push(make(Kind::integer, static_cast<int64_t>(in_.number(1)))), true;
      case 'M':
        return push(make(Kind::integer, static_cast<int64_t>(in_.number(2)))), true;
      case 0x8a:  // LONG1
        return push_long(in_.number(1)), true;
      case 0x8b:  // LONG4
        return push_long(in_.number(4)), true;
      case 'G':
        in_.take(8);
        return push(make(Kind::real)), true;
      default:
        return false;
    }
  }

  /// Two's complement, little endian, of any length.
  void push_long(uint64_t length) {
    const auto bytes = in_.take(length);
    if (length > 8) return push(make(Kind::big_integer, 0, bytes));
    uint64_t number = !bytes.empty() && static_cast<signed char>(bytes.back()) < 0 ? ~uint64_t{0} : 0;
    for (size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
    push(make(Kind::integer, static_cast<int64_t>(number)));
  }

  /// Texts and bytes, whose length comes first. A string of Python 2 is a text to us.
  bool sized(unsigned char opcode) {
    const auto push_text = [&](Kind kind, size_t width) { push(make(kind, 0, in_.take(in_.number(width)))); };
    switch (opcode) {
      case 'U':
      case 0x8c:  // SHORT_BINUNICODE
        return push_text(Kind::text, 1), true;
      case 'T':
      case 'X':
        return push_text(Kind::text, 4), true;
      case 0x8d:  // BINUNICODE8
        return push_text(Kind::text, 8), true;
      case 'C':
        return push_text(Kind::bytes, 1), true;
      case 'B':
        return push_text(Kind::bytes, 4), true;
      case 0x8e:  // BINBYTES8
      case 0x96:  // BYTEARRAY8
        return push_text(Kind::bytes, 8), true;
      default:
        return false;
    }
  }

  bool container(unsigned char opcode) {
    switch (opcode) {
      case ')':
        return push_new(Kind::tuple, {}), true;
      case 0x85:  // TUPLE1
      case 0x86:  // TUPLE2
      case 0x87:  // TUPLE3
        return push_new(Kind::tuple, pop_last(opcode - 0x84)), true;
      case 't':
        return push_new(Kind::tuple, pop_to_mark()), true;
      case ']':
      case 0x8f:  // EMPTY_SET
        return push_new(Kind::list, {}), true;
      case 0x91:  // FROZENSET
        return push_new(Kind::list, pop_to_mark()), true;
      case '}':
        return push_new(Kind::dictionary, {}), true;
      case 'a':
        return append(pop_last(1)), true;
      case 'e':
      case 0x90:  // ADDITEMS
        return append(pop_to_mark()), true;
      case 's':
        return set_items(pop_last(2)), true;
      case 'u':
        return set_items(pop_to_mark()), true;
      default:
        return false;
    }
  }

  /// What is appended to an object (a class derived from list) is passed over.
  void append(const std::vector<ValueId>& items) {
    auto& value = pickle_.values[top()];
    if (value.kind == Kind::object) return;
    if (value.kind != Kind::list) refuse("expected a list to append to, found {}", describe_value(pickle_, top()));
    value.items.insert(value.items.end(), items.begin(), items.end());
  }

  void set_items(const std::vector<ValueId>& pairs) {
    auto& value = pickle_.values[top()];
    if (value.kind != Kind::dictionary && value.kind != Kind::object)
      refuse("expected a dictionary to set items of, found {}", describe_value(pickle_, top()));
    if (pairs.size() % 2 != 0) refuse("expected a value for every key");
    value.items.insert(value.items.end(), pairs.begin(), pairs.end());
  }

  /// The stack, the memo and the frame of the protocol.
  bool stack(unsigned char opcode) {
    switch (opcode) {
      case 0x80:  // PROTO
        if (const auto protocol = in_.number(1); protocol < 2 || protocol > 5)
          refuse("expected protocol 2 to 5, found {}", protocol);
        return true;
      case 0x95:  // FRAME
        return in_.take(8), true;
      case '(':
        if (marks_.size() >= most_values) refuse("expected at most {} marks", most_values);
        return marks_.push_back(stack_.size()), true;
      case '0':
        return pop(), true;
      case '1':
        return pop_to_mark(), true;
      case '2':
        return push(top()), true;
      case 'q':
        return put(in_.number(1)), true;
      case 'r':
        return put(in_.number(4)), true;
      case 0x94:  // MEMOIZE
        return put(memo_.size()), true;
      case 'h':
        return get(in_.number(1)), true;
      case 'j':
        return get(in_.number(4)), true;
      default:
        return false;
    }
  }

  /// Python numbers the memo from 0 or 1 without gaps.
  void put(uint64_t index) {
    if (index >= most_values) refuse("expected at most {} values in the memo, found number {}", most_values, index);
    if (index >= memo_.size()) memo_.resize(index + 1, absent);
    memo_[index] = top();
  }

  void get(uint64_t index) {
    if (index >= memo_.size() || memo_[index] == absent) refuse("nothing is in the memo under {}", index);
    push(memo_[index]);
  }

  bool object(unsigned char opcode) {
    switch (opcode) {
      case 'c': {
        const auto module = line();
        const auto name = line();
        return push_global(make(Kind::text, 0, module), make(Kind::text, 0, name)), true;
      }
      case 0x93: {  // STACK_GLOBAL
        const auto names = pop_last(2);
        return push_global(names[0], names[1]), true;
      }
      case 'R':
      case 0x81: {  // NEWOBJ
        const auto call = pop_last(2);
        return push_call(call[0], call[1]), true;
      }
      case 0x92: {  // NEWOBJ_EX; no tensor needs the named arguments
        const auto call = pop_last(3);
        return push_call(call[0], call[1]), true;
      }
      case 'b':  // the state of an object; no tensor needs it
        return pop(), top(), true;
      case 'Q':
        return push_new(Kind::persistent, pop_last(1)), true;
      default:
        return false;
    }
  }

  std::string_view line() {
    const auto end = in_.rest().find('\n');
    if (end == std::string_view::npos) refuse("expected a name and a line's end");
    return in_.take(end + 1).substr(0, end);
  }

  void push_global(ValueId module, ValueId name) {
    if (pickle_[module].kind != Kind::text || pickle_[name].kind != Kind::text)
      refuse("expected the names of a module and of a thing in it, found {} and {}", describe_value(pickle_, module),
             describe_value(pickle_, name));
    // A long name could be had again and again by a memo's two bytes, and is copied whenever it is asked for.
    if (pickle_[module].text.size() > longest_class_name || pickle_[name].text.size() > longest_class_name)
      refuse("expected the name of a class or a function in at most {} bytes", longest_class_name);
    push_new(Kind::global, {module, name});
  }

  void push_call(ValueId callable, ValueId arguments) {
    if (pickle_[arguments].kind != Kind::tuple)
      refuse("expected a tuple of arguments, found {}", describe_value(pickle_, arguments));
    const auto id = make(Kind::object);
    pickle_.values[id].callable = callable;
    pickle_.values[id].arguments = arguments;
    push(id);
  }

  static constexpr ValueId absent = ~ValueId{0};

  Cursor in_;
  const std::string& name_;
  size_t at_ = 0;  ///< where the opcode stands
  Pickle pickle_;
  std::vector<ValueId> stack_, memo_;
  std::vector<size_t> marks_;
};

}  // namespace

Pickle parse_pickle(std::string_view bytes, const std::string& name) { return Machine(bytes, name).run(); }

std::string global_name(const Pickle& pickle, ValueId id) {
  const auto& value = pickle[id];
  if (value.kind != Kind::global) return {};
  return fmt::format("{}.{}", pickle[value.items[0]].text, pickle[value.items[1]].text);
}

std::string describe_value(const Pickle& pickle, ValueId id) {
  static constexpr const char* words[] = {"None",    "a truth value", "an integer",     "an integer", "a number",
                                          "a text",  "bytes",         "a tuple",        "a list",     "a dictionary",
                                          "a class", "an object",     "a persistent id"};
  const auto& value = pickle[id];
  const auto name = global_name(pickle, value.kind == Kind::object ? value.callable : id);
  const auto* word = words[static_cast<size_t>(value.kind)];
  if (name.empty()) return word;
  return fmt::format("{} {}", value.kind == Kind::object ? "an object of" : word, excerpt(name));
}

}  // namespace penumbra::io
