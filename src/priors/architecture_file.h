/// A network's options in a file beside its weights, as the users of the paper's code have them.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace penumbra {

/// JSON, or YAML where the file's name ends in .yaml or .yml: the options themselves, or under `config`,
/// `architecture`, `score_fn` or `model.score_fn`. In YAML, `_BASE_: other.yaml` fills in what the file does not say,
/// as in the official configurations; `bases` gets these files. Throws InputError that names the file; what the
/// options mean is not looked at.
nlohmann::json read_architecture(const std::filesystem::path& path, std::vector<std::filesystem::path>& bases);

}  // namespace penumbra
