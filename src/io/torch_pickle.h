/// What torch.save puts into a pickle: dictionaries, tensors, and the storages that they are views of.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/pickle.h"
#include "io/stored_tensor.h"

namespace penumbra::io {

/// A run of numbers outside the pickle, which several tensors may share.
struct Storage {
  std::string type_name;            ///< "FloatStorage"
  std::optional<ElementType> type;  ///< none where penumbra has no tensors of that type
  int64_t element_size = 0;         ///< bytes
  std::string key;
  int64_t count = 0;                                ///< elements of the whole
  std::optional<std::pair<int64_t, int64_t>> part;  ///< first element and number, where it is a view of another one
};

/// The whole of a storage. Throws InputError where it is missing or has another size.
using StorageBytes = std::function<std::string_view(const Storage&)>;

/// Key and value, in the file's order, of a dictionary or of an object that was given items, such as an OrderedDict;
/// nothing for other values.
std::optional<std::vector<std::pair<ValueId, ValueId>>> entries_of(const Pickle& pickle, ValueId id);

/// Whether torch would have made a tensor of it, of whatever kind.
bool is_tensor(const Pickle& pickle, ValueId id);

/// Throws InputError "where: ..." unless it is a dense tensor that lies within its storage.
StoredTensor read_tensor(const Pickle& pickle, ValueId id, const StorageBytes& bytes, const std::string& where);

/// Of a persistent id; nothing where it does not name a storage, InputError where it does so wrongly.
std::optional<Storage> read_storage(const Pickle& pickle, ValueId id, const std::string& where);

/// The classes and functions that the pickle names besides those above. None of them was run.
std::vector<std::string> foreign_names(const Pickle& pickle);

}  // namespace penumbra::io
