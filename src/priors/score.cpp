#include "priors/score.h"

#include <ATen/ATen.h>

#include "core/error.h"
#include "core/named.h"
#include "priors/inexact.h"

namespace penumbra {
namespace {

void require_sigma(double sigma, const SigmaRange& range) {
  if (!(sigma >= range.low && sigma <= range.high))
    input_error("prior: sigma = {} is outside the range [{}, {}] for which this score is known", sigma, range.low,
                range.high);
}

}  // namespace

Tensor Score::score(const Tensor& x, double sigma, const Cursor& at) const {
  require_shape(x, image_shape_, "prior: image");
  require_sigma(sigma, sigma_range());
  return do_score(x, sigma, at);
}

Tensor Score::denoise(const Tensor& x, double sigma, const Cursor& at) const {
  require_shape(x, image_shape_, "prior: image");
  require_sigma(sigma, sigma_range());
  return do_denoise(x, sigma, at);
}

Tensor Score::do_denoise(const Tensor& x, double sigma, const Cursor& at) const {
  return x + sigma * sigma * do_score(x, sigma, at);
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
  return prior;
}

}  // namespace penumbra
