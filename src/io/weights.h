/// The weights of networks: safetensors files, and those of torch.save, which are read but never executed.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace penumbra::io {

/// Named tensors of a file, with what the file says of itself.
struct Weights {
  std::map<std::string, Tensor> tensors;  ///< CPU, own storage, the file's own element type
  nlohmann::json header;      ///< ours: the text under "penumbra" of a safetensors file's __metadata__; null elsewhere
  std::string pixel_sd_file;  ///< where the header's pixel_sd is from another file
  std::string chosen;  ///< "state_dict_ema, prefix 'model.'": the dictionary taken and the prefix removed from all
                       ///< names, for messages; empty where that is the whole file as it is
  std::vector<std::string> passed_over;  ///< classes and functions that a pickle names, none of which was run
};

/// Safetensors or a file of torch.save, told apart by content, never by name. A header without pixel_sd gets it from
/// x.sd.json beside x.safetensors, where there is such a file: a map can come later than weights that are large.
Weights read_weights(const std::filesystem::path& path);

/// What one file holds, from memory; `name` stands for it in messages.
Weights parse_weights(std::span<const char> bytes, const std::string& name);

/// Atomically, from any device. The header goes to __metadata__ as JSON text under "penumbra", with "format": "pt";
/// names in a file with a header are read back as they are, whatever they share.
void write_safetensors(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors,
                       const nlohmann::json& header);

}  // namespace penumbra::io
