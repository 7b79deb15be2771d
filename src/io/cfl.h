/// Complex arrays as BART keeps them (https://mrirecon.github.io/bart): column-major complex64 in `name.cfl`, sizes in
/// `name.hdr`.
#pragma once

#include <filesystem>
#include <vector>

#include "core/tensor.h"
#include "io/cfl_header.h"

namespace penumbra::io {

/// Whether a name, or a stem that BART's own commands would take, is that of such a pair.
bool looks_like_cfl(const std::filesystem::path& path);

/// The other file of the pair of which `path` is one.
std::filesystem::path other_of_pair(const std::filesystem::path& path);

/// complex64 with all 16 dimensions in BART's order, READ first. `path` is either file or their common stem. Throws
/// InputError where one is missing or they do not fit together.
Tensor read_cfl(const std::filesystem::path& path);

/// Writes a pair. The last two dimensions of the array are READ and PHS1; `leading` names the ones before them. Real
/// numbers become complex ones. Each file appears whole, the header last: without it nobody reads the data.
void write_cfl(const std::filesystem::path& path, const Tensor& array, const std::vector<CflDimension>& leading = {});

}  // namespace penumbra::io
