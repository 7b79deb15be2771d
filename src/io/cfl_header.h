/// BART's pair of files as bytes: `name.hdr` says the sizes, `name.cfl` holds the numbers; knows no tensors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penumbra::io {

/// The places of BART's dimensions in a header.
enum CflDimension : size_t {
  cfl_read = 0,
  cfl_phase_1 = 1,
  cfl_phase_2 = 2,
  cfl_coil = 3,
  cfl_slice = 13,
  cfl_batch = 15,
  cfl_dimensions = 16
};

/// READ, PHS1, ...: BART's own words, for messages.
std::string_view name_of(CflDimension dimension);

/// The sizes that a header's text gives, always 16: what it leaves out is 1. Throws InputError, with `name` for the
/// file, unless all are positive and the numbers' bytes fit in 63 bits.
std::vector<int64_t> parse_cfl_header(std::string_view text, const std::string& name);

/// The text of a header with these sizes.
std::string format_cfl_header(const std::vector<int64_t>& sizes);

/// Throws InputError unless so many bytes are exactly the numbers that the sizes ask for.
void check_cfl_size(const std::vector<int64_t>& sizes, uint64_t bytes, const std::string& name);

}  // namespace penumbra::io
