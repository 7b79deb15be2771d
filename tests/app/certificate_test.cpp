#include "app/certificate.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <fstream>

#include "io/npy.h"
#include "samplers/pmc.h"
#include "support/paths.h"
#include "theory/law_average.h"
#include "theory/vectors.h"

namespace penumbra::app {
namespace {

constexpr auto correlated_prior =
    "{kind: gaussian, image_shape: [1, 1, 2], mean: [1, -1], covariance: [2, 0.3, 0.3, 1.5]}";
/// The same law as a mixture, which the program does not recognise as a Gaussian.
constexpr auto twice_the_prior =
    "{kind: gaussian_mixture, image_shape: [1, 1, 2], components: [{mean: [1, -1], covariance: [2, 0.3, 0.3, 1.5]}, "
    "{mean: [1, -1], covariance: [2, 0.3, 0.3, 1.5]}]}";
constexpr auto pmc_red =
    "{kind: pmc-red, sigma: 0.1, step_size: 0.1, steps: 200, start: {kind: normal, mean: 5, sd: 1}}";
constexpr auto apmc_pnp =
    "{kind: apmc-pnp, step_size: 0.1, steps: 200, start: {kind: normal, mean: 5, sd: 1}, "
    "schedule: {sigma_0: 2, sigma_min: 0.1, xi: 0.95, alpha_0: 0.5}}";

/// A configuration with the data of bounds.json.
Problem problem(const std::string& prior, const std::string& sampler) {
  const auto folder = test::scratch();
  const auto all = test::vectors("bounds.json");
  io::write_npy(folder / "A.npy", test::tensor(all["A"]));
  io::write_npy(folder / "y.npy", test::tensor(all["y"]));
  std::ofstream(folder / "config.yaml") << "prior: " << prior << "\nsampler: " << sampler
                                        << "\nlikelihood: {kind: dense, matrix: A.npy, data: y.npy, noise_sd: 1}\n";
  ConfigOptions options;
  options.path = folder / "config.yaml";
  options.assignments = {"sampler.precision=float64"};
  options.machine.device = "cpu";
  return load_problem(options);
}

/// Of 40 starts the last four are beyond the divergence limit, and the pilot runs the first 32.
TEST(Pilot, RunsAFewOfTheImagesOfAStartFile) {
  const auto folder = test::scratch();
  auto start = at::zeros({40, 1, 1, 2}, at::kDouble);
  start.narrow(0, 36, 4).fill_(1e12);
  io::write_npy(folder / "start.npy", start);
  std::ofstream(folder / "config.yaml") << "prior: " << correlated_prior
                                        << "\nlikelihood: {kind: none}\nchains: 40\nsampler: {kind: pmc-red, sigma: "
                                           "0.1, step_size: 0.1, steps: 20, start: {kind: file, file: start.npy}}\n";
  ConfigOptions options;
  options.path = folder / "config.yaml";
  options.machine.device = "cpu";
  const auto pilot = run_pilot(load_problem(options), {});
  EXPECT_FALSE(pilot.diverged);
  EXPECT_EQ(pilot.steps, 20);
}

TEST(Certificate, OfAGaussianProblemIsExactAndHolds) {
  const auto certificate = make_certificate(problem(correlated_prior, pmc_red), {});
  const auto all = test::vectors("bounds.json");
  EXPECT_EQ(certificate.theorem, theory::Theorem::t1);
  EXPECT_NEAR(*certificate.L_g.value / all["L_g"].get<double>(), 1, 1e-6);
  EXPECT_NEAR(*certificate.L_p.value / all["L_p"].get<double>(), 1, 1e-10);
  EXPECT_EQ(certificate.C.status, "exact");
  ASSERT_TRUE(certificate.bound && certificate.measured);
  EXPECT_TRUE(certificate.bound->complete());

  const theory::LinearGaussian law(theory::problem_of(all));
  const theory::GaussianLaw start{at::full({2}, 5, at::kDouble), at::eye(2, at::kDouble)};
  const auto expected = theory::average_along_law(law, start, 200, [](int64_t) {
    return theory::LawStep{.gamma = 0.1, .annealing = {0.1, 1}};
  });
  EXPECT_NEAR(certificate.measured->fisher_information / expected.fisher_information, 1, 1e-10);
  EXPECT_LT(certificate.measured->fisher_information, certificate.bound->sum());
  EXPECT_TRUE(certificate.admissible[0].satisfied);
}

TEST(Certificate, EstimatesComeNearTheExactConstants) {
  for (const auto* sampler : {pmc_red, apmc_pnp}) {
    const auto exact = make_certificate(problem(correlated_prior, sampler), {});
    const auto estimate = make_certificate(problem(twice_the_prior, sampler), {.chains = 400});
    EXPECT_EQ(estimate.R_g.status, "estimated");
    EXPECT_FALSE(estimate.measured.has_value());
    const auto ratio = [](const Constant& a, const Constant& b) { return *a.value / *b.value; };
    EXPECT_NEAR(ratio(estimate.L_sigma, exact.L_sigma), 1, 1e-3);
    EXPECT_NEAR(ratio(estimate.L_p, exact.L_p), 1, 1e-3);
    EXPECT_NEAR(ratio(estimate.KL0, exact.KL0), 1, 0.05);
    EXPECT_NEAR(ratio(estimate.C, exact.C), 1, 0.1);
    EXPECT_NEAR(ratio(estimate.R_g, exact.R_g), 1, 0.1);
    EXPECT_NEAR(ratio(estimate.R_s, exact.R_s), 1, 0.1);
    EXPECT_NEAR(estimate.bound->sum() / exact.bound->sum(), 1, 0.1);
  }
}

TEST(Certificate, AUniformStartAddsItsOwnEntropyGap) {
  auto uniform = problem(correlated_prior, pmc_red);
  uniform.start.kind = Start::Kind::uniform;
  uniform.start.low = 3;
  uniform.start.high = 7;
  auto mixture = problem(twice_the_prior, pmc_red);
  mixture.start = uniform.start;
  const auto exact = make_certificate(uniform, {}), estimate = make_certificate(mixture, {});
  EXPECT_NEAR(*estimate.KL0.value / *exact.KL0.value, 1, 0.03);
  EXPECT_FALSE(exact.measured->exact);
}

TEST(Certificate, AStepAboveTheLimitIsSaid) {
  auto large =
      problem(correlated_prior, "{kind: pmc-pnp, sigma: 0.1, step_size: 0.5, steps: 50, start: {kind: prior}}");
  const auto certificate = make_certificate(large, {});
  EXPECT_FALSE(certificate.admissible[1].satisfied);
  EXPECT_LT(certificate.gamma, certificate.stable_below);
  EXPECT_NE(to_text(certificate).find("the bound is not implied"), std::string::npos);
  EXPECT_FALSE(to_json(certificate)["admissible_step"]["T2"]["satisfied"].get<bool>());
}

/// Like a trained network: known from sigma = 0.05 on, with an unknown error, a law nobody can draw from.
class Learned final : public Score {
 public:
  explicit Learned(std::shared_ptr<const Score> inner) : Score(inner->image_shape()), inner_(std::move(inner)) {}
  SigmaRange sigma_range() const override { return {0.05, 100}; }

 private:
  Tensor do_score(const Tensor& x, double sigma, const Cursor& at) const override {
    return inner_->score(x, sigma, at);
  }
  std::shared_ptr<const Score> inner_;
};

TEST(Certificate, OfALearnedScoreLeavesOutWhatIsUnknown) {
  auto learned = problem(correlated_prior, pmc_red);
  learned.posterior.prior = std::make_shared<Learned>(learned.posterior.prior);
  learned.sampler = std::make_shared<Pmc>(learned.posterior, 1, Pmc::Options{.gamma = 0.1, .sigma = 0.1});
  const auto certificate = make_certificate(learned, {});
  EXPECT_EQ(certificate.eps.status, "unknown");
  EXPECT_EQ(certificate.C.status, "unknown");
  EXPECT_EQ(certificate.KL0.status, "unknown");
  EXPECT_EQ(certificate.R_s.status, "estimated");
  ASSERT_TRUE(certificate.bound.has_value());
  EXPECT_FALSE(certificate.bound->complete());
  EXPECT_NE(to_text(certificate).find("no bound"), std::string::npos);
  EXPECT_TRUE(to_json(certificate)["bound"]["approximation"].is_null());
}

TEST(Certificate, AFreshScoreErrorIsExtraTemperatureAndSaidToBeNoLipschitzMap) {
  const std::string prior = correlated_prior;
  const auto clean = make_certificate(problem(prior, pmc_red), {});
  const auto with = [&](const char* kind) {
    const auto error = fmt::format(", error: {{kind: {}, eps_max: 1}}}}", kind);
    return make_certificate(problem(prior.substr(0, prior.size() - 1) + error, pmc_red), {});
  };
  const auto fresh = with("fresh"), constant = with("constant");
  EXPECT_NE(to_json(fresh)["caveats"].dump().find("extra temperature"), std::string::npos);
  EXPECT_EQ(to_json(constant)["caveats"].dump().find("extra temperature"), std::string::npos);
  EXPECT_GT(fresh.measured->fisher_information, clean.measured->fisher_information);
  // A constant error e moves the mean so that FI rises by about |e|^2, a fresh one only warms.
  EXPECT_GT(constant.measured->fisher_information,
            5 * (fresh.measured->fisher_information - clean.measured->fisher_information));
  EXPECT_NEAR(*constant.bound->approximation, 24, 1e-12);
}

TEST(Certificate, ASamplerOutsideTheTheoremsGetsNoBound) {
  const auto certificate = make_certificate(
      problem(correlated_prior, "{kind: pnp-ula, sigma: 0.1, step_size: 0.1, steps: 50, start: {kind: prior}}"), {});
  EXPECT_FALSE(certificate.theorem.has_value());
  EXPECT_TRUE(to_json(certificate)["bound"].is_null());
}

}  // namespace
}  // namespace penumbra::app
