/// Where the priors are that ship with Penumbra.
#include <unistd.h>

#include <set>

#include "core/error.h"
#include "priors/network.h"

namespace penumbra {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> prior_folders() {
  std::vector<fs::path> folders;
  if (const char* given = std::getenv("PENUMBRA_PRIORS")) folders.emplace_back(given);
  std::error_code error;
  const auto program = fs::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back(program.parent_path().parent_path() / "share" / "penumbra" / "priors");
  folders.emplace_back(PENUMBRA_PRIORS);
  return folders;
}

}  // namespace

fs::path shipped_prior(const std::string& name) {
  std::set<std::string> known;
  for (const auto& folder : prior_folders()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() != ".safetensors") continue;
      if (entry.path().stem() == name) return entry.path();
      known.insert(entry.path().stem().string());
    }
  }
  std::string names;
  for (const auto& one : known) names += (names.empty() ? "" : ", ") + one;
  input_error("prior: {}: no prior of this name; {}", name,
              names.empty() ? "none is installed (set PENUMBRA_PRIORS to their folder)" : "there are " + names);
}

}  // namespace penumbra
