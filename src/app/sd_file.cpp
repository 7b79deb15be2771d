#include "app/sd_file.h"

#include <fmt/format.h>

#include "core/error.h"
#include "io/file.h"

namespace penumbra::app {

void require_sd_file(const std::string& option, const std::filesystem::path& file) {
  if (!file.filename().string().ends_with(".sd.json"))
    input_error("{}: expected a file whose name ends in .sd.json, found {}", option, file.string());
  io::require_writable(file.has_parent_path() ? file.parent_path() : ".", 1 << 20);
}

void write_sd_file(const std::filesystem::path& file, const PixelSpread& spread) {
  io::write_file(file, spread.to_json().dump() + "\n");
  fmt::print("{}\n", file.string());
}

}  // namespace penumbra::app
