#include "support/paths.h"

#include <ATen/ATen.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <stdexcept>
#include <vector>

namespace penumbra::test {
namespace fs = std::filesystem;

fs::path program() { return PENUMBRA_PROGRAM; }

nlohmann::json vectors(const std::string& name) {
  const auto path = fs::path(PENUMBRA_SOURCE_DIR) / "tests/vectors" / name;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("missing " + path.string());
  return nlohmann::json::parse(file);
}

fs::path corpus(const std::string& path) { return fs::path(PENUMBRA_SOURCE_DIR) / "tests/fuzz/corpus" / path; }

fs::path shipped_example(const std::string& name) { return fs::path(PENUMBRA_SOURCE_DIR) / "examples" / name; }

std::optional<fs::path> shared(const std::string& path) {
  const auto full = fs::path(PENUMBRA_SOURCE_DIR) / "../shared" / path;
  if (!fs::exists(full)) return std::nullopt;
  return fs::canonical(full);
}

fs::path scratch() {
  struct Root {
    fs::path path = fs::temp_directory_path() / ("penumbra-test-" + std::to_string(getpid()));
    int count = 0;
    ~Root() {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  };
  static Root root;
  const auto folder = root.path / std::to_string(root.count++);
  fs::create_directories(folder);
  return folder;
}

Tensor tensor(const nlohmann::json& numbers) {
  std::vector<int64_t> shape;
  for (const auto* level = &numbers; level->is_array(); level = &level->front())
    shape.push_back(static_cast<int64_t>(level->size()));
  std::vector<double> values;
  const auto walk = [&](const auto& self, const nlohmann::json& node) -> void {
    if (!node.is_array()) return values.push_back(node.template get<double>());
    for (const auto& child : node) self(self, child);
  };
  walk(walk, numbers);
  return at::tensor(values, at::kDouble).reshape(shape);
}

double relative_error(const Tensor& a, const Tensor& b) {
  const auto type = a.is_complex() || b.is_complex() ? at::kComplexDouble : at::kDouble;
  const auto difference = (a.to(type) - b.to(type)).abs().max().item<double>();
  const auto scale = b.abs().max().item<double>();
  return scale > 0 ? difference / scale : difference;
}

double relative_distance(const Tensor& a, const Tensor& b) { return ((a - b).norm() / b.norm()).item<double>(); }

}  // namespace penumbra::test
