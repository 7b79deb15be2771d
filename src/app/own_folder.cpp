#include "app/own_folder.h"

#include <algorithm>

#include "core/error.h"
#include "core/nearest.h"
#include "io/file.h"

namespace penumbra::app {

namespace fs = std::filesystem;

void require_nothing_but(const fs::path& folder, const std::vector<std::string>& names, const std::string& expected) {
  std::error_code none;
  // What is no folder is refused where the folder is made.
  if (!fs::is_directory(folder, none)) return;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto name = entry.path().filename().string();
    if (io::is_left_by_a_kill(entry.path()) || std::find(names.begin(), names.end(), name) != names.end()) continue;
    input_error("{}: holds {}; expected {}", folder.string(), excerpt(name), expected);
  }
}

void require_place_of_run(const fs::path& folder, const std::vector<std::string>& prepared) {
  std::error_code none;
  const bool has_run = fs::exists(folder / "config.yaml", none) && fs::exists(folder / "provenance.json", none);
  if (has_run) return;
  auto beginning = prepared;
  beginning.emplace_back("provenance.json");  // written before config.yaml: a kill may come in between
  require_nothing_but(folder, beginning,
                      "a new or empty folder, or that of a run, with config.yaml and provenance.json");
}

}  // namespace penumbra::app
