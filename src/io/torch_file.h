/// Files of torch.save, as a ZIP archive (torch 1.6 and later) or in the legacy format. Knows no LibTorch; executes
/// nothing of what the pickles in them ask for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/stored_tensor.h"

namespace penumbra::io {

struct TorchFile {
  StoredTensors tensors;
  std::string chosen;                    ///< which of the file's dictionaries, and the prefix removed from all names
  std::vector<std::string> passed_over;  ///< classes and functions that the file names, none of which was run
};

bool looks_like_torch_file(std::string_view bytes);

/// Throws InputError, with `name` for the file, where it holds no dictionary of dense tensors. The tensors' data lies
/// in `bytes`.
TorchFile open_torch_file(std::span<const char> bytes, const std::string& name);

}  // namespace penumbra::io
