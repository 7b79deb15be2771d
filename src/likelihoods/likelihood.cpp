#include "likelihoods/likelihood.h"

#include <ATen/ATen.h>

#include "core/error.h"
#include "core/named.h"
#include "io/npy.h"
#include "likelihoods/clipped.h"
#include "likelihoods/gaussian.h"

namespace penumbra {
namespace {

bool measures_complex(const ForwardModel& model, const Placement& placement) {
  Shape one = model.image_shape();
  one.insert(one.begin(), 1);
  return model.apply(place(at::zeros(one), placement)).is_complex();
}

/// y from the file that the configuration names, checked against what the model measures.
Tensor read_data(Settings& settings, const ForwardModel& model, const Placement& placement) {
  const auto path = settings.file("data");
  auto y = io::read_npy(path);
  const Shape& shape = model.data_shape();
  if (y.dim() == static_cast<int64_t>(shape.size()) + 1 && y.size(0) == 1) y = y.squeeze(0);
  // One channel may be left out, as [H, W] for [1, H, W].
  if (y.dim() + 1 == static_cast<int64_t>(shape.size()) && shape[0] == 1) y = y.unsqueeze(0);
  if (y.sizes() != at::IntArrayRef(shape))
    input_error("{}: expected an array of {}, as {} measures, found {}", path.string(), describe(shape), model.name(),
                describe(y.sizes()));
  if (y.is_complex() && !measures_complex(model, placement))
    settings.fail("data", fmt::format("expected real numbers, as {} measures, found complex ones in {}", model.name(),
                                      path.string()));
  if (!y.isfinite().all().item<bool>())
    input_error("{}: expected finite numbers, found NaN or infinity", path.string());
  return y;
}

std::unique_ptr<Likelihood> make_gaussian(const ForwardModelEntry& entry, Settings& settings, const Shape& image_shape,
                                          const Placement& placement, Purpose purpose) {
  std::shared_ptr<const ForwardModel> A = entry.make(settings, image_shape, placement);
  const double beta = settings.number("noise_sd", positive);
  Tensor y;
  if (purpose == Purpose::sample)
    y = read_data(settings, *A, placement);
  else
    settings.ignore("data");
  return std::make_unique<GaussianLikelihood>(A, y.defined() ? place(y, placement) : y, beta);
}

}  // namespace

Tensor Likelihood::value(const Tensor& x) const {
  require_shape(x, image_shape_, "likelihood: image");
  return do_value(x);
}

Tensor Likelihood::grad(const Tensor& x) const {
  require_shape(x, image_shape_, "likelihood: image");
  return do_grad(x);
}

std::shared_ptr<const Likelihood> make_likelihood(Settings settings, const Shape& image_shape,
                                                  const Placement& placement, Purpose purpose) {
  auto kinds = names_of(likelihood_entries());
  for (const auto& name : names_of(forward_model_entries())) kinds.push_back(name);
  const auto kind = settings.choice("kind", kinds);
  std::shared_ptr<const Likelihood> likelihood;
  if (const auto* model = find_named(forward_model_entries(), kind))
    likelihood = make_gaussian(*model, settings, image_shape, placement, purpose);
  else
    likelihood = find_named(likelihood_entries(), kind)->make(settings, image_shape, placement, purpose);
  if (settings.has("clip_gradient"))
    likelihood = std::make_shared<ClippedLikelihood>(
        likelihood, at::scalar_tensor(settings.number("clip_gradient", positive), at::kDouble));
  return likelihood;
}

}  // namespace penumbra
