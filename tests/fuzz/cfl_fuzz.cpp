// Any text is a BART header with sizes that can be believed or an InputError; what was read is written and read back to
// the same. What follows a NUL is the data file.
#include <cstdlib>
#include <string_view>

#include "core/error.h"
#include "io/cfl_header.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penumbra;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto end = input.find('\0');
  try {
    const auto sizes = io::parse_cfl_header(input.substr(0, end), "fuzz.hdr");
    if (sizes.size() != io::cfl_dimensions) std::abort();
    try {
      if (io::parse_cfl_header(io::format_cfl_header(sizes), "written.hdr") != sizes) std::abort();
    } catch (const InputError&) {
      std::abort();
    }
    const auto bytes = end == input.npos ? 0 : input.size() - end - 1;
    io::check_cfl_size(sizes, bytes, "fuzz.cfl");
    uint64_t count = 1;
    for (const auto extent : sizes) count *= static_cast<uint64_t>(extent);
    if (count * 8 != bytes) std::abort();
  } catch (const InputError&) {
  }
  return 0;
}
