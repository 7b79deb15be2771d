/// Safetensors files: eight bytes with the header's length, a JSON header, the tensors' bytes. Knows no LibTorch.
#pragma once

#include <map>
#include <span>
#include <string>

#include "io/stored_tensor.h"

namespace penumbra::io {

struct Safetensors {
  StoredTensors tensors;
  std::map<std::string, std::string> metadata;  ///< the strings of __metadata__
};

/// The brace that opens the header; neither format of torch.save can have one there.
bool looks_like_safetensors(std::string_view bytes);

/// Throws InputError, with `name` for the file, unless the tensors fill the data without gap or overlap and each has
/// the size of its type and shape.
Safetensors open_safetensors(std::span<const char> bytes, const std::string& name);

/// A whole file. The data must be contiguous; throws std::invalid_argument where a name is not UTF-8 or is
/// __metadata__.
std::string format_safetensors(const Safetensors& content);

}  // namespace penumbra::io
