/// Likelihoods from their configuration: what is read, what is refused, what a bound on the gradient leaves alone.
#include "likelihoods/likelihood.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "io/npy.h"
#include "likelihoods/clipped.h"
#include "support/message.h"
#include "support/numbers.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::in_double;

std::shared_ptr<const Likelihood> likelihood_of(const std::string& text, const std::filesystem::path& folder = ".") {
  return make_likelihood(Settings::from_text(text, "c.yaml", folder), {1, 2, 3}, in_double);
}

TEST(Likelihood, ComplexDataOfARealModelAreRefused) {
  const auto folder = test::scratch();
  io::write_npy(folder / "y.npy", at::ones({4}, at::kComplexDouble));
  const auto message =
      test::message_of([&] { likelihood_of("{kind: gaussian, rows: 4, noise_sd: 1, data: y.npy}", folder); });
  for (const auto* part : {"c.yaml:1: data: expected real numbers", "gaussian", "y.npy"})
    EXPECT_TRUE(test::contains(message, part)) << message;
}

TEST(Likelihood, AClippedOneIsStillWhatItWas) {
  const auto none = likelihood_of("{kind: none, clip_gradient: 1}");
  ASSERT_TRUE(dynamic_cast<const ClippedLikelihood*>(none.get()));
  EXPECT_FALSE(none->has_data());
  const auto folder = test::scratch();
  io::write_npy(folder / "y.npy", at::ones({4}, at::kDouble));
  const auto data = likelihood_of("{kind: gaussian, rows: 4, noise_sd: 0.3, data: y.npy, clip_gradient: 1}", folder);
  EXPECT_TRUE(data->has_data());
  EXPECT_EQ(data->noise_sd(), 0.3);
}

}  // namespace
}  // namespace penumbra
