#include "networks/parameters.h"

#include <ATen/ATen.h>

#include <set>

#include "core/error.h"
#include "core/nearest.h"
#include "core/random.h"

namespace penumbra {

std::vector<ParameterSpec> list_parameters(const std::function<void(const ParameterSource&)>& build) {
  std::vector<ParameterSpec> specs;
  build([&](const ParameterSpec& spec) {
    specs.push_back(spec);
    return Tensor();
  });
  return specs;
}

int64_t parameter_count(const std::vector<ParameterSpec>& specs) {
  int64_t count = 0;
  for (const auto& spec : specs) count += element_count(spec.shape);
  return count;
}

std::map<std::string, Tensor> initial_parameters(const std::vector<ParameterSpec>& specs, uint64_t seed) {
  std::map<std::string, Tensor> tensors;
  for (size_t i = 0; i < specs.size(); ++i) {
    const auto& spec = specs[i];
    auto tensor = at::zeros(spec.shape, at::TensorOptions().dtype(at::kFloat));
    const auto row = tensor.reshape({1, -1});
    const Cursor at{seed, static_cast<int64_t>(i), 0};
    switch (spec.initial) {
      case Initial::fan_in:
        tensor = ((2 * uniform(at, Stream::weights, row) - 1) / std::sqrt(static_cast<double>(spec.fan_in)))
                     .reshape(spec.shape);
        break;
      case Initial::normal:
        tensor = (normal(at, Stream::weights, row) * spec.scale).reshape(spec.shape);
        break;
      case Initial::one:
        tensor.fill_(1);
        break;
      case Initial::zero:
        break;
    }
    tensors[spec.name] = tensor;
  }
  return tensors;
}

void require_parameters(const std::map<std::string, Tensor>& tensors, const std::vector<ParameterSpec>& specs,
                        const std::string& file) {
  std::set<std::string> wanted;
  for (const auto& spec : specs) {
    wanted.insert(spec.name);
    const auto found = tensors.find(spec.name);
    if (found == tensors.end())
      input_error("{}: {}: expected a tensor of {}, found none; the file holds another architecture", file, spec.name,
                  describe(spec.shape));
    if (found->second.sizes() != at::IntArrayRef(spec.shape))
      input_error("{}: {}: expected {}, found {}; the file holds another architecture", file, spec.name,
                  describe(spec.shape), describe(found->second.sizes()));
    if (!found->second.is_floating_point())
      input_error("{}: {}: expected floating-point numbers, found {}", file, spec.name,
                  c10::toString(found->second.scalar_type()));
    if (!found->second.isfinite().all().item<bool>())
      input_error("{}: {}: expected finite numbers, found NaN or infinity", file, spec.name);
  }
  for (const auto& [name, tensor] : tensors)
    if (!wanted.contains(name))
      input_error("{}: {}: no such parameter in this architecture; the file holds another one", file, excerpt(name));
}

}  // namespace penumbra
