/// No data: g = 0, and the posterior is the prior.
#include <ATen/ATen.h>

#include "core/error.h"
#include "likelihoods/likelihood.h"

namespace penumbra {
namespace {

class NoLikelihood final : public Likelihood {
 public:
  using Likelihood::Likelihood;
  std::vector<Misfit> misfit(const Tensor&) const override { return {}; }
  bool has_data() const override { return false; }
  std::optional<double> lipschitz() const override { return 0.0; }
  Tensor simulate(const Tensor&, const Cursor&) const override {
    input_error("likelihood.kind: none measures nothing, so there is nothing to simulate");
  }

 private:
  Tensor do_value(const Tensor& x) const override { return x.new_zeros({x.size(0)}); }
  Tensor do_grad(const Tensor& x) const override { return at::zeros_like(x); }
};

std::unique_ptr<Likelihood> make(Settings&, const Shape& image_shape, const Placement&, Purpose) {
  return std::make_unique<NoLikelihood>(image_shape);
}

}  // namespace

extern const LikelihoodEntry no_likelihood{"none", "no data: samples the prior", make};

}  // namespace penumbra
