/// The interferometer's likelihood against ehtim: model visibilities, chi^2 and gradients of M87's data.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "likelihoods/interferometry.h"
#include "support/devices.h"
#include "support/npz.h"
#include "support/paths.h"
#include "vlbi/golden.h"

namespace penumbra {
namespace {

using vlbi::ClosureRule;

/// One term of weight 1 on images in Jy a pixel.
InterferometryOptions only(const std::string& term, double fov) {
  InterferometryOptions options{.grid = {64, 64, fov / 64 * vlbi::microarcsecond, vlbi::Pulse::triangle}};
  if (term == "cphase") options.closure_phase = 1;
  if (term == "logcamp") options.log_closure_amplitude = 1;
  if (term == "amp") options.amplitude = 1;
  if (term == "vis") options.visibility = 1;
  return options;
}

class InterferometryGolden : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto path = test::shared("interferometry/golden/" + GetParam() + ".npz");
    if (!path) GTEST_SKIP() << "no ../shared/interferometry";
    arrays = test::read_npz(*path);
    images = test::read_npz(test::shared("interferometry/golden/images.npz").value());
    summary = test::golden_summary().at(GetParam()).at("configs");
  }
  Tensor image(const std::string& name) const { return images.at(name).reshape({1, 1, 64, 64}); }

  struct Answer {
    double chi2;
    Tensor grad;  ///< of chi^2, as ehtim has it
  };
  Answer answer(const std::string& config, const std::string& term, ClosureRule rule, const std::string& sky,
                const Placement& where) const {
    const auto observation = test::observation_in(arrays, config + "/vis/");
    // ehtim's chi^2 debiases.
    const auto closures = vlbi::form_closures(observation, {.rule = rule, .debias = true});
    const InterferometryLikelihood likelihood({1, 64, 64}, observation, closures, only(term, 128), where);
    const auto x = place(image(sky), where);
    const auto misfit = likelihood.misfit(x).at(0);
    EXPECT_EQ(misfit.chi2.numel(), 1);
    const double chi2 = misfit.chi2.item<double>();
    EXPECT_NEAR(2 * likelihood.value(x).item<double>() / static_cast<double>(misfit.data_count), chi2, 1e-6 * chi2);
    return {
        chi2,
        (2.0 / static_cast<double>(misfit.data_count) * likelihood.grad(x)).view({64, 64}).to(at::kCPU, at::kDouble)};
  }

  /// A visibility is wrong by the unit of rounding times the flux, and phase, logarithm and gradient have 1/V: near a
  /// null that counts.
  double near_nulls(const std::string& config, const std::string& sky, double rounding) const {
    return 4 * rounding * 0.6 / arrays.at(config + "/" + sky + "/vis_model").abs().min().item<double>();
  }

  void compare(const Placement& where, double rounding) const {
    int gradients = 0;
    for (const std::string config : {"A", "B"})
      for (const std::string sky : {"ring", "gauss", "crescent"})
        for (const std::string kind : {"vis", "amp", "cphase_min", "cphase_max", "logcamp_min", "logcamp_max"}) {
          SCOPED_TRACE(config + " " + sky + " " + kind);
          const auto term = kind.substr(0, kind.find('_'));
          const auto rule = kind.ends_with("max") ? ClosureRule::ehtim_max : ClosureRule::ehtim_min;
          const auto [chi2, grad] = answer(config, term, rule, sky, where);
          const double expected = summary[config][sky][kind].get<double>();
          const double allowance = near_nulls(config, sky, rounding);
          EXPECT_NEAR(chi2, expected, (1e-6 + allowance) * expected);
          const auto golden = arrays.find(config + "/" + sky + "/grad_" + kind);
          if (golden == arrays.end()) continue;
          ++gradients;
          EXPECT_LT(test::relative_error(grad, golden->second), 1e-5 + allowance);
        }
    EXPECT_GE(gradients, 18);
  }

  test::Arrays arrays, images;
  nlohmann::json summary;
};

TEST_P(InterferometryGolden, ModelVisibilities) {
  for (const std::string config : {"A", "B"})
    for (const std::string sky : {"ring", "gauss", "crescent"}) {
      const auto observation = test::observation_in(arrays, config + "/vis/");
      const auto A = vlbi::dft_matrix(observation, only("vis", 128).grid);
      const auto V = A.matmul(image(sky).flatten()).view({2, -1});
      const auto golden = arrays.at(config + "/" + sky + "/vis_model");
      // Of 0.6 Jy; ehtim's degree has 13 digits.
      EXPECT_LT((V[0] - at::real(golden)).abs().max().item<double>(), 0.6e-11);
      EXPECT_LT((V[1] - at::imag(golden)).abs().max().item<double>(), 0.6e-11);
    }
}

TEST_P(InterferometryGolden, Chi2AndGradientsInDouble) { compare({at::kDouble, at::kCPU}, 0); }

TEST_P(InterferometryGolden, Chi2AndGradientsInSinglePrecision) { compare({at::kFloat, at::kCPU}, 0x1p-24); }

TEST_P(InterferometryGolden, Chi2AndGradientsOnCuda) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
  compare({at::kDouble, at::kCUDA}, 0);
  compare({at::kFloat, at::kCUDA}, 0x1p-24);
}

INSTANTIATE_TEST_SUITE_P(M87, InterferometryGolden, testing::ValuesIn(test::golden_observations()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace penumbra
