/// Gaussian and Gaussian-mixture priors from a configuration: `prior: {kind: gaussian, ...}`.
#include <ATen/ATen.h>

#include "core/error.h"
#include "io/array_setting.h"
#include "io/npy.h"
#include "priors/gaussian_mixture.h"

namespace penumbra {
namespace {

/// Exactly one of `variance` (a number, a list or a file: diagonal), `covariance` (full), `factor` with `floor`
/// (low rank).
std::shared_ptr<const Covariance> covariance_setting(Settings& settings, int64_t n, const Placement& placement) {
  const int given = settings.has("variance") + settings.has("covariance") + settings.has("factor");
  if (given != 1)
    settings.fail("variance", fmt::format("expected exactly one of variance, covariance and factor, found {}", given));
  if (settings.has("covariance"))
    return Covariance::full(place(io::array_setting(settings, "covariance", {n, n}), placement));
  if (settings.has("factor")) {
    const auto path = settings.file("factor");
    const auto factor = io::read_npy(path);
    if (factor.dim() != 2 || factor.size(0) != n)
      input_error("{}: expected a factor of [{}, rank], found {}", path.string(), n, describe(factor.sizes()));
    return Covariance::low_rank(place(factor, placement), settings.number("floor", positive));
  }
  const auto variances = io::array_setting(settings, "variance", {n});
  if (!variances.gt(0).all().item<bool>()) settings.fail("variance", "expected positive numbers");
  return Covariance::diagonal(place(variances, placement));
}

Component component_setting(Settings& settings, int64_t n, const Placement& placement) {
  const double weight = settings.number("weight", 1, positive);
  const auto mean = settings.has("mean") ? io::array_setting(settings, "mean", {n})
                                         : at::zeros({n}, at::TensorOptions().dtype(at::kDouble));
  return {weight, place(mean, placement), covariance_setting(settings, n, placement)};
}

std::shared_ptr<const Score> make_gaussian(Settings& settings, const Placement& placement) {
  const auto shape = io::image_shape_setting(settings);
  return std::make_shared<GaussianMixture>(shape,
                                           std::vector{component_setting(settings, element_count(shape), placement)});
}

std::shared_ptr<const Score> make_mixture(Settings& settings, const Placement& placement) {
  const auto shape = io::image_shape_setting(settings);
  std::vector<Component> components;
  for (auto& section : settings.sections("components"))
    components.push_back(component_setting(section, element_count(shape), placement));
  return std::make_shared<GaussianMixture>(shape, std::move(components));
}

}  // namespace

extern const PriorEntry gaussian{"gaussian", "a Gaussian: diagonal, full or low-rank covariance", make_gaussian,
                                 "{image_shape: [1, 2, 3], mean: [1, 0, -1, 2, 0.5, 0], variance: 0.5}"};
extern const PriorEntry gaussian_mixture{"gaussian_mixture", "a mixture of Gaussians", make_mixture,
                                         "{image_shape: [1, 1, 2], components: [{weight: 2, mean: [1, -1], variance: "
                                         "0.3}, {mean: [-1, 0], covariance: [1, 0.4, 0.4, 0.8]}]}"};

}  // namespace penumbra
