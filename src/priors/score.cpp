#include "priors/score.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/error.h"
#include "core/named.h"
#include "priors/clamped_sigma.h"
#include "priors/inexact.h"

namespace penumbra {
namespace {

/// `denoise` with its derivative, from one evaluation.
DenoiseVjp with_vjp(const Tensor& x, const std::function<Tensor(const Tensor&)>& denoise) {
  c10::AutoGradMode with_gradients(true);
  const auto from = x.detach().requires_grad_();
  const auto denoised = denoise(from);
  if (!denoised.requires_grad())
    input_error("prior: its denoiser cannot be differentiated (a network that was saved without gradients)");
  return {denoised.detach(), [=](const Tensor& v) { return torch::autograd::grad({denoised}, {from}, {v})[0]; }};
}

}  // namespace

bool Score::accepts(double sigma) const {
  constexpr double rounding = 1e-9;  // a schedule that ends at the range's end may miss it by this
  const auto [low, high] = sigma_range();
  return sigma >= low * (1 - rounding) && sigma <= high * (1 + rounding);
}

void Score::require(const Tensor& x, double sigma) const {
  require_shape(x, image_shape_, "prior: image");
  require_sigma(sigma);
}

void Score::require_sigma(double sigma) const {
  if (accepts(sigma)) return;
  const auto [low, high] = sigma_range();
  const bool can_clamp = sigma >= 0 && (low > 0 || std::isfinite(high));
  input_error("prior: sigma = {} is outside the range [{}, {}] for which this score is known{}", sigma, low, high,
              can_clamp ? "; prior.out_of_range: clamp takes the score of the nearest known sigma instead" : "");
}

Tensor Score::score(const Tensor& x, double sigma, const Cursor& at) const {
  require(x, sigma);
  return do_score(x, sigma, at);
}

Tensor Score::score_held(const Tensor& x, const Tensor& sigma) const {
  require_shape(x, image_shape_, "prior: image");
  return do_score_held(x, sigma);
}

Tensor Score::do_score_held(const Tensor& /*x*/, const Tensor& /*sigma*/) const {
  input_error("prior: its sigma must be known; expected one that takes_held_sigma()");
}

Tensor Score::denoise(const Tensor& x, double sigma, const Cursor& at) const {
  require(x, sigma);
  return do_denoise(x, sigma, at);
}

DenoiseVjp Score::denoise_vjp(const Tensor& x, double sigma, const Cursor& at) const {
  require(x, sigma);
  return with_vjp(x, [&](const Tensor& from) { return do_denoise(from, sigma, at); });
}

DenoiseVjp Score::denoise_vjp_held(const Tensor& x, const Tensor& sigma) const {
  require_shape(x, image_shape_, "prior: image");
  return with_vjp(x, [&](const Tensor& from) { return do_denoise_held(from, sigma); });
}

DenoiseVjp Score::denoise_vjp(const Tensor& x, const std::vector<double>& sigmas, const Cursor& at) const {
  require_shape(x, image_shape_, "prior: image");
  if (static_cast<int64_t>(sigmas.size()) != x.size(0))
    input_error("prior: expected {} levels, one a chain, found {}", x.size(0), sigmas.size());
  for (const double sigma : sigmas) require_sigma(sigma);
  return with_vjp(x, [&](const Tensor& from) { return do_denoise_each(from, sigmas, at); });
}

Tensor Score::do_denoise_each(const Tensor& x, const std::vector<double>& sigmas, const Cursor& at) const {
  std::vector<Tensor> parts;
  auto here = at;
  for (size_t first = 0, end = 0; first < sigmas.size(); first = end) {
    while (end < sigmas.size() && sigmas[end] == sigmas[first]) ++end;
    const auto count = static_cast<int64_t>(end - first);
    parts.push_back(do_denoise(x.narrow(0, static_cast<int64_t>(first), count), sigmas[first], here));
    here.first_chain += count;
  }
  return at::cat(parts);
}

std::optional<double> Score::pixel_width() const {
  if (const auto range = pixel_range()) return range->second - range->first;
  if (const auto draws = draw(64, {})) return 4 * draws->to(at::kDouble).var(0).mean().sqrt().item<double>();
  return std::nullopt;
}

Tensor Score::do_denoise(const Tensor& x, double sigma, const Cursor& at) const {
  return x + sigma * sigma * do_score(x, sigma, at);
}

Tensor Score::do_denoise_held(const Tensor& x, const Tensor& sigma) const {
  return x + sigma * sigma * do_score_held(x, sigma);
}

std::shared_ptr<const Score> make_prior(Settings settings, const Placement& placement) {
  const auto kind = settings.choice("kind", names_of(prior_entries()));
  auto prior = find_named(prior_entries(), kind)->make(settings, placement);
  if (settings.has("error")) {
    auto error = settings.section("error");
    const bool fresh = error.choice("kind", {"fresh", "constant"}, "fresh") == "fresh";
    prior = std::make_shared<InexactScore>(prior, error.number("eps_max", not_negative),
                                           fresh ? InexactScore::Error::fresh : InexactScore::Error::constant);
  }
  if (settings.has("clip_score"))
    prior = std::make_shared<ClippedScore>(prior, settings.number("clip_score", positive));
  // Last, so that nothing between it and its user refuses. A score known at every sigma has nothing to clamp.
  const bool clamp = settings.choice("out_of_range", {"refuse", "clamp"}, "refuse") == "clamp";
  const auto [low, high] = prior->sigma_range();
  if (clamp && (low > 0 || std::isfinite(high))) prior = std::make_shared<ClampedSigmaScore>(prior);
  return prior;
}

}  // namespace penumbra
