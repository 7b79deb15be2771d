/// The dictionary of tensors in what training left behind: among copies, optimizers and settings, the weights to use.
#pragma once

#include <string>
#include <utility>

#include "io/pickle.h"
#include "io/stored_tensor.h"

namespace penumbra::io {

struct StateDictionary {
  ValueId id = 0;
  std::string path;    ///< "state_dict_ema", "ema.state_dict"; empty where it is the whole file
  std::string remark;  ///< of an average that could not be taken; usually empty
};

/// Averaged weights (state_dict_ema, ema, ...) before others (state_dict, model, ...) before the root itself. Throws
/// InputError, with `name` for the file, where none of them holds a tensor.
StateDictionary find_state_dictionary(const Pickle& pickle, const std::string& name);

/// Removes what wrappers (model., module., _orig_mod.) put before every name; returns what was removed. The last
/// part of a name stays.
std::string remove_common_prefix(StoredTensors& tensors);

/// "state_dict_ema, prefix 'model.'"; empty where there is nothing to say.
std::string describe_choice(const StateDictionary& dictionary, const std::string& prefix);

}  // namespace penumbra::io
