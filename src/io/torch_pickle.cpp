#include "io/torch_pickle.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "core/error.h"
#include "core/nearest.h"

namespace penumbra::io {
namespace {

using Kind = Value::Kind;

struct StorageRow {
  std::string_view name;
  int64_t element_size;
  std::optional<ElementType> type;
};

/// Those without a type are known for their size only: the legacy format has to be read past them.
constexpr std::array<StorageRow, 15> storage_rows{{{"DoubleStorage", 8, ElementType::f64},
                                                   {"FloatStorage", 4, ElementType::f32},
                                                   {"HalfStorage", 2, ElementType::f16},
                                                   {"BFloat16Storage", 2, ElementType::bf16},
                                                   {"LongStorage", 8, ElementType::i64},
                                                   {"IntStorage", 4, ElementType::i32},
                                                   {"ShortStorage", 2, ElementType::i16},
                                                   {"CharStorage", 1, ElementType::i8},
                                                   {"ByteStorage", 1, ElementType::u8},
                                                   {"BoolStorage", 1, ElementType::boolean},
                                                   {"ComplexDoubleStorage", 16, {}},
                                                   {"ComplexFloatStorage", 8, {}},
                                                   {"QInt32Storage", 4, {}},
                                                   {"QInt8Storage", 1, {}},
                                                   {"QUInt8Storage", 1, {}}}};

const StorageRow* storage_row(std::string_view global) {
  for (const std::string_view module : {"torch.cuda.", "torch."}) {
    if (!global.starts_with(module)) continue;
    global.remove_prefix(module.size());
    const auto found =
        std::find_if(storage_rows.begin(), storage_rows.end(), [&](auto& r) { return r.name == global; });
    return found == storage_rows.end() ? nullptr : &*found;
  }
  return nullptr;
}

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_known(const std::string& global) {
  return storage_row(global) ||
         is_one_of(global, {"collections.OrderedDict", "torch._utils._rebuild_tensor",
                            "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_parameter",
                            "torch._utils._rebuild_parameter_with_state", "torch._tensor._rebuild_from_type_v2",
                            "torch.Size", "torch.Tensor", "torch.device", "torch.nn.parameter.Parameter"});
}

struct Call {
  std::string function;
  const std::vector<ValueId>* arguments;
};

/// The call that makes the tensor itself, inside those that make it a parameter or give it attributes.
Call innermost_call(const Pickle& pickle, ValueId id, const std::string& where) {
  constexpr int deepest = 8;
  auto callable = pickle[id].callable, arguments = pickle[id].arguments;
  for (int depth = 0; depth < deepest; ++depth) {
    const auto function = global_name(pickle, callable);
    const auto& given = pickle[arguments].items;
    if (is_one_of(function, {"torch._utils._rebuild_parameter", "torch._utils._rebuild_parameter_with_state"}) &&
        !given.empty() && pickle[given[0]].kind == Kind::object) {
      callable = pickle[given[0]].callable;
      arguments = pickle[given[0]].arguments;
    } else if (function == "torch._tensor._rebuild_from_type_v2" && given.size() > 2 &&
               pickle[given[2]].kind == Kind::tuple) {
      callable = given[0];
      arguments = given[2];
    } else {
      return {function, &given};
    }
  }
  input_error("{}: expected a tensor, found parameters within parameters", where);
}

int64_t natural(const Pickle& pickle, ValueId id, const std::string& where) {
  const auto& value = pickle[id];
  if (value.kind != Kind::integer || value.integer < 0)
    input_error("{}: expected an integer from 0 to 2^63 - 1, found {}", where,
                value.kind == Kind::integer ? std::to_string(value.integer) : describe_value(pickle, id));
  return value.integer;
}

/// A tuple, a list, or torch.Size of one.
std::vector<int64_t> naturals(const Pickle& pickle, ValueId id, const std::string& where) {
  if (pickle[id].kind == Kind::object && global_name(pickle, pickle[id].callable) == "torch.Size" &&
      pickle[pickle[id].arguments].items.size() == 1)
    id = pickle[pickle[id].arguments].items[0];
  const auto& value = pickle[id];
  if (value.kind != Kind::tuple && value.kind != Kind::list)
    input_error("{}: expected a tuple, found {}", where, describe_value(pickle, id));
  constexpr size_t most = 64;  // LibTorch's limit; a long tuple could serve many tensors and be copied for each
  if (value.items.size() > most)
    input_error("{}: expected at most {} dimensions, found {}", where, most, value.items.size());
  std::vector<int64_t> numbers;
  for (const auto item : value.items) numbers.push_back(natural(pickle, item, where));
  return numbers;
}

/// Elements from the first to the last that a tensor reaches; 0 where it is empty.
int64_t reach(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides, const std::string& where) {
  int64_t last = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return 0;
    int64_t step = 0;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &step) || __builtin_add_overflow(last, step, &last) ||
        last == std::numeric_limits<int64_t>::max())
      input_error("{}: strides: too large", where);
  }
  return last + 1;
}

std::string_view elements(const Storage& storage, const StorageBytes& bytes, const std::string& where) {
  auto data = bytes(storage);
  if (!storage.part) return data;
  const auto [first, count] = *storage.part;
  if (first > storage.count || count > storage.count - first)
    input_error("{}: expected a view within the storage's {} elements, found {} from {}", where, storage.count, count,
                first);
  return data.substr(first * storage.element_size, count * storage.element_size);
}

}  // namespace

std::optional<std::vector<std::pair<ValueId, ValueId>>> entries_of(const Pickle& pickle, ValueId id) {
  const auto& value = pickle[id];
  const bool ordered = value.kind == Kind::object && global_name(pickle, value.callable) == "collections.OrderedDict";
  if (value.kind != Kind::dictionary && !ordered && (value.kind != Kind::object || value.items.empty())) return {};
  std::vector<std::pair<ValueId, ValueId>> pairs;
  // Python 2 gives OrderedDict its items as a list of pairs.
  if (const auto& given = pickle[value.arguments].items; ordered && given.size() == 1)
    for (const auto pair : pickle[given[0]].items)
      if (const auto& both = pickle[pair].items; both.size() == 2) pairs.emplace_back(both[0], both[1]);
  for (size_t i = 0; i + 1 < value.items.size(); i += 2) pairs.emplace_back(value.items[i], value.items[i + 1]);
  return pairs;
}

bool is_tensor(const Pickle& pickle, ValueId id) {
  const auto& value = pickle[id];
  if (value.kind != Kind::object) return false;
  const auto function = global_name(pickle, value.callable);
  return function.starts_with("torch._utils._rebuild") || function.starts_with("torch._tensor._rebuild");
}

std::optional<Storage> read_storage(const Pickle& pickle, ValueId id, const std::string& where) {
  if (pickle[id].kind != Kind::persistent) return {};
  const auto& fields = pickle[pickle[id].items[0]].items;
  if (fields.empty() || pickle[fields[0]].text != "storage") return {};
  if (fields.size() < 5 || pickle[fields[2]].kind != Kind::text)
    input_error("{}: storage: expected its type, key, place and size", where);
  if (pickle[fields[2]].text.size() > longest_name)
    input_error("{}: storage: expected a key of at most {} bytes", where, longest_name);
  const auto type = global_name(pickle, fields[1]);
  const auto* row = storage_row(type);
  if (!row)
    input_error("{}: storage: expected a type of torch such as torch.FloatStorage, found {}", where,
                type.empty() ? describe_value(pickle, fields[1]) : excerpt(type));
  Storage storage{std::string(row->name), row->type, row->element_size, std::string(pickle[fields[2]].text), 0, {}};
  storage.count = natural(pickle, fields[4], where + ": storage: size");
  if (fields.size() > 5 && pickle[fields[5]].kind == Kind::tuple) {
    const auto& view = pickle[fields[5]].items;
    if (view.size() != 3) input_error("{}: storage: view: expected its key, offset and size", where);
    storage.part = {natural(pickle, view[1], where + ": storage: view"),
                    natural(pickle, view[2], where + ": storage: view")};
  }
  return storage;
}

StoredTensor read_tensor(const Pickle& pickle, ValueId id, const StorageBytes& bytes, const std::string& where) {
  const auto [function, arguments] = innermost_call(pickle, id, where);
  if (!is_one_of(function, {"torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2"}))
    input_error("{}: expected a dense tensor, found what {} makes", where,
                function.empty() ? "something unknown" : excerpt(function));
  if (arguments->size() < 4) input_error("{}: expected a storage, offset, shape and strides", where);
  const auto source = read_storage(pickle, (*arguments)[0], where);
  if (!source) input_error("{}: expected a storage, found {}", where, describe_value(pickle, (*arguments)[0]));
  if (!source->type)
    input_error("{}: type: expected one of {}, found {}", where, element_type_names(), source->type_name);

  StoredTensor tensor{*source->type, {}, {}, {}};
  const auto offset = natural(pickle, (*arguments)[1], where + ": offset");
  tensor.shape = naturals(pickle, (*arguments)[2], where + ": shape");
  tensor.strides = naturals(pickle, (*arguments)[3], where + ": strides");
  if (tensor.strides.size() != tensor.shape.size())
    input_error("{}: strides: expected {}, one a dimension, found {}", where, tensor.shape.size(),
                tensor.strides.size());
  byte_count(tensor.type, tensor.shape, where);
  const auto count = reach(tensor.shape, tensor.strides, where);
  const auto data = elements(*source, bytes, where);
  const auto available = static_cast<int64_t>(data.size()) / source->element_size;
  if (count > 0 && (offset > available || count > available - offset))
    input_error("{}: expected to lie within its storage's {} elements, found {} from {}", where, available, count,
                offset);
  if (count > 0) tensor.data = data.substr(offset * source->element_size, count * source->element_size);
  return tensor;
}

std::vector<std::string> foreign_names(const Pickle& pickle) {
  std::set<std::string> names;
  for (size_t id = 0; id < pickle.values.size(); ++id)
    if (pickle.values[id].kind == Kind::global)
      if (auto name = global_name(pickle, static_cast<ValueId>(id)); !is_known(name)) names.insert(excerpt(name));
  return {names.begin(), names.end()};
}

}  // namespace penumbra::io
