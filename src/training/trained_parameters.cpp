#include "training/trained_parameters.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace penumbra::training {
namespace {

// Elements. A GPU reads 16 bytes at once: behind a bias of one number all that follows would start between such places,
// and cuDNN has only slow kernels for weights that do.
constexpr int64_t alignment = 64;

int64_t with_gap(int64_t count) { return (count + alignment - 1) / alignment * alignment; }

}  // namespace

TrainedParameters::TrainedParameters(std::vector<ParameterSpec> specs, const std::map<std::string, Tensor>& start,
                                     at::Device device, at::ScalarType compute, at::MemoryFormat format)
    : format_(format) {
  c10::NoGradGuard no_gradients;
  const auto place_all = [&](bool narrow) {
    for (const auto& spec : specs) {
      if (!spec.trained || (compute != at::kFloat && !spec.wide) != narrow) continue;
      entries_.push_back({spec, wide_count_ + narrow_count_, narrow});
      (narrow ? narrow_count_ : wide_count_) += with_gap(element_count(spec.shape));
    }
  };
  place_all(false);
  place_all(true);
  for (const auto& spec : specs)
    if (!spec.trained) fixed_[spec.name] = start.at(spec.name).to(device, at::kFloat).clone();

  values_ = flat(start).to(device);
  wide_gradient_ = at::zeros({wide_count_}, values_.options());
  narrow_ = values_.narrow(0, wide_count_, narrow_count_).to(compute);
  narrow_gradient_ = at::zeros_like(narrow_);
  for (const auto& entry : entries_) {
    auto leaf = entry.narrow ? part(narrow_, entry, wide_count_) : part(values_, entry, 0);
    leaf.requires_grad_(true);
    leaf.mutable_grad() = entry.narrow ? part(narrow_gradient_, entry, wide_count_) : part(wide_gradient_, entry, 0);
    leaves_[entry.spec.name] = leaf;
  }
}

Tensor TrainedParameters::part(const Tensor& flat, const Entry& entry, int64_t origin) const {
  const auto& shape = entry.spec.shape;
  const auto piece = flat.narrow(0, entry.offset - origin, element_count(shape));
  if (shape.size() != 4 || format_ != at::MemoryFormat::ChannelsLast) return piece.view(shape);
  return piece.view({shape[0], shape[2], shape[3], shape[1]}).permute({0, 3, 1, 2});
}

ParameterSource TrainedParameters::source() const {
  return [this](const ParameterSpec& spec) {
    const auto leaf = leaves_.find(spec.name);
    return leaf != leaves_.end() ? leaf->second : fixed_.at(spec.name);
  };
}

void TrainedParameters::refresh() {
  c10::NoGradGuard no_gradients;
  narrow_.copy_(values_.narrow(0, wide_count_, narrow_count_));
}

void TrainedParameters::collect_gradient(Tensor& sum) {
  c10::NoGradGuard no_gradients;
  sum.narrow(0, 0, wide_count_).add_(wide_gradient_);
  sum.narrow(0, wide_count_, narrow_count_).add_(narrow_gradient_);
  wide_gradient_.zero_();
  narrow_gradient_.zero_();
}

std::map<std::string, Tensor> TrainedParameters::named(const Tensor& flat) const {
  c10::NoGradGuard no_gradients;
  std::map<std::string, Tensor> tensors = fixed_;
  for (const auto& entry : entries_) tensors[entry.spec.name] = part(flat, entry, 0).contiguous();
  return tensors;
}

Tensor TrainedParameters::flat(const std::map<std::string, Tensor>& tensors) const {
  c10::NoGradGuard no_gradients;
  auto result = at::zeros({wide_count_ + narrow_count_}, at::TensorOptions().dtype(at::kFloat));
  for (const auto& entry : entries_) part(result, entry, 0).copy_(tensors.at(entry.spec.name));
  return result;
}

}  // namespace penumbra::training
