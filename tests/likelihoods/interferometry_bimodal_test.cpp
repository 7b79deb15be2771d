/// The two modes of an interferometric posterior whose source may be turned by 180 degrees.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "app/experiments/interferometry/minimise.h"
#include "app/experiments/interferometry/two_modes.h"
#include "likelihoods/interferometry.h"
#include "support/npz.h"
#include "support/paths.h"
#include "vlbi/golden.h"

namespace penumbra {
namespace {

constexpr double pixel = 160.0 / 64;  // uas

struct Bimodal : testing::Test {
  test::Arrays arrays;
  app::interferometry::TwoModePrior prior;

  void SetUp() override {
    const auto path = test::shared("interferometry/golden/bimodal_open.npz");
    if (!path) GTEST_SKIP() << "no ../shared/interferometry";
    arrays = test::read_npz(*path);
    prior = app::interferometry::two_mode_prior(arrays.at("prior_mean"), pixel);
  }
  InterferometryLikelihood likelihood(bool phases) const {
    InterferometryOptions options{.grid = {64, 64, pixel * vlbi::microarcsecond, vlbi::Pulse::triangle}};
    options.closure_phase = phases;
    options.log_closure_amplitude = 1;
    options.flux = {1, 2, 0.05};
    return {{1, 64, 64}, test::observation_in(arrays, ""), test::closures_in(arrays), options, {}};
  }
};

TEST_F(Bimodal, ThePriorIsTheGoldenOne) { EXPECT_EQ(prior.factor.size(1), 620); }

/// The golden optima, evaluated: chi^2, prior and projection to the digits of the file.
TEST_F(Bimodal, EnergiesOfTheGoldenModes) {
  struct Expected {
    const char* name;
    double E, half_xi2, chi2_phase, chi2_amplitude, p;
  };
  const auto both = likelihood(true);
  for (const auto& [name, E, half_xi2, chi2_phase, chi2_amplitude, p] :
       {Expected{"cp_la_mode1", 428.8989463327548, 21.718201592200234, 0.9192770250271531, 0.7974390967849814,
                 1.0076798676992855},
        Expected{"cp_la_mode2", 448.37457480326736, 44.97965999972379, 0.9035235142694962, 0.7954136701527816,
                 -0.7951483723890391}}) {
    const auto x = arrays.at(name).view({1, 1, 64, 64});
    const auto misfit = both.misfit(x);
    EXPECT_NEAR(misfit[0].chi2.item<double>(), chi2_phase, 1e-6);
    EXPECT_NEAR(misfit[1].chi2.item<double>(), chi2_amplitude, 1e-6);
    EXPECT_NEAR(prior.projection(x).item<double>(), p, 1e-6);
    EXPECT_NEAR(half_xi2 + both.value(x).item<double>(), E, 1e-5);
    const auto from = p > 0 ? prior.mean : prior.turned;
    const auto xi = std::get<0>(at::linalg_lstsq(prior.factor, (x.flatten() - from).unsqueeze(1)));
    EXPECT_NEAR(0.5 * xi.square().sum().item<double>(), half_xi2, 1e-4);
  }
}

/// T2: from m and from R m the optimum of 1/2 |xi|^2 + g(mean + F xi). The transform is that of F's columns: a tenth of
/// the pixels' work.
TEST_F(Bimodal, OptimaFromBothMeans) {
  const auto observation = test::observation_in(arrays, "");
  const auto closures = test::closures_in(arrays);
  const auto A = vlbi::dft_matrix(observation, {64, 64, pixel * vlbi::microarcsecond, vlbi::Pulse::triangle});
  const auto AF = A.matmul(prior.factor), flux_of_F = prior.factor.sum(0);
  const auto m = A.size(0) / 2;
  const auto precision = [sds = sds_of(observation)](const auto& of) {
    return ClosurePrecision::diagonal(closure_variances(of, sds, {}));
  };
  std::vector<TermPointer> terms;
  terms.push_back(closure_phase_term(closures.phases, precision(closures.phases), PhaseLaw::cosine, m, {}));
  terms.push_back(log_closure_amplitude_term(closures.amplitudes, precision(closures.amplitudes), m, {}));
  terms.push_back(flux_term(2, 0.05));

  const auto both = likelihood(true);
  for (const auto& [mean, E, p] : {std::tuple(prior.mean, 428.8989, 1.01), std::tuple(prior.turned, 448.3746, -0.80)}) {
    const auto V_mean = A.matmul(mean);
    const double flux_mean = mean.sum().item<double>();
    const auto xi = app::interferometry::minimise(
        [&](const Tensor& xi) {
          const auto V = (V_mean + AF.matmul(xi)).unsqueeze(1);
          const ModelVisibilities model(V, flux_mean + flux_of_F.dot(xi).view({1}), 1e-16);
          Pull pull;
          double g = 0;
          for (const auto& term : terms) {
            g += term->energy(model).item<double>();
            term->add_pull(model, 1, pull);
          }
          return std::pair(0.5 * xi.dot(xi).item<double>() + g,
                           xi + pull.on(model).squeeze(1).matmul(AF) + pull.flux * flux_of_F);
        },
        at::zeros({prior.factor.size(1)}, at::kDouble), 3000, 0.05);
    const auto x = (mean + prior.factor.matmul(xi)).view({1, 1, 64, 64});
    const double found = 0.5 * xi.dot(xi).item<double>() + both.value(x).item<double>();
    EXPECT_NEAR(found, E, 0.1);
    EXPECT_NEAR(prior.projection(x).item<double>(), p, 0.01);
  }
}

}  // namespace
}  // namespace penumbra
