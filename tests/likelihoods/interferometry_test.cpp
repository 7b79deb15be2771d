/// The interferometer's likelihood on small synthetic observations: derivatives, invariances, closed forms.
#include "likelihoods/interferometry.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <numbers>

#include "support/devices.h"
#include "support/message.h"
#include "support/numbers.h"
#include "support/paths.h"
#include "vlbi/golden.h"

namespace penumbra {
namespace {

using test::in_double;

constexpr int64_t side = 8;
const Shape sky_shape{1, side, side};

vlbi::PixelGrid grid() { return {side, side, 60.0 / side * vlbi::microarcsecond, vlbi::Pulse::triangle}; }

Tensor skies(int64_t chains, uint64_t seed = 1) {
  return uniform({seed, 0, 0}, Stream::truth, at::empty({chains, 1, side, side}, at::kDouble));
}

/// Visibilities of an image, no noise.
vlbi::Observation observed(const Tensor& image, double sd = 0.05) {
  auto observation = test::synthetic_observation(5, 3);
  const auto V = vlbi::dft_matrix(observation, grid()).matmul(image.flatten()).view({2, -1});
  for (size_t k = 0; k < observation.visibilities.size(); ++k) {
    const auto row = static_cast<int64_t>(k);
    observation.visibilities[k].value = {V[0][row].item<double>(), V[1][row].item<double>()};
    observation.visibilities[k].sd = sd * (1 + 0.1 * static_cast<double>(k % 7));
  }
  return observation;
}

InterferometryLikelihood make_terms(const vlbi::Observation& observation, InterferometryOptions options,
                                    const Placement& where = in_double) {
  options.grid = grid();
  return {sky_shape, observation, vlbi::form_closures(observation), options, where};
}

const std::vector<std::pair<std::string, InterferometryOptions>>& all_terms() {
  static const std::vector<std::pair<std::string, InterferometryOptions>> terms{
      {"closure phase", {.closure_phase = 0.7}},
      {"wrapped closure phase", {.closure_phase = 1, .phase_law = PhaseLaw::wrapped_square}},
      {"log closure amplitude", {.log_closure_amplitude = 1.3}},
      {"both closures", {.closure_phase = 0.7, .log_closure_amplitude = 1.3}},
      {"correlated closures", {.closure_phase = 1, .log_closure_amplitude = 1, .errors = ClosureErrors::covariance}},
      {"correlated wrapped phases",
       {.closure_phase = 1, .phase_law = PhaseLaw::wrapped_square, .errors = ClosureErrors::covariance}},
      {"amplitude", {.amplitude = 1}},
      {"visibility", {.visibility = 1}},
      {"flux", {.flux = InterferometryOptions::Flux{2, 30, 0.5}}},
      {"position", {.closure_phase = 1, .position = InterferometryOptions::Position{2, 1e-11, 30}}},
      {"all, in other units",
       {.jy_per_unit = 0.3,
        .black = -1,
        .closure_phase = 1,
        .log_closure_amplitude = 0.5,
        .amplitude = 2,
        .visibility = 0.1,
        .flux = InterferometryOptions::Flux{1, 30, 0.5}}}};
  return terms;
}

/// Annealing adds one variance to all visibilities, of which closures are formed: as if the data had had that noise.
TEST(Interferometry, NoisierIsTheSameDataWithMoreNoise) {
  const auto quiet = observed(skies(1, 9));
  const double alpha = 5, least = quiet.visibilities.front().sd;  // observed() gives the first the smallest
  auto noisy = quiet;
  for (auto& row : noisy.visibilities) row.sd = std::sqrt(row.sd * row.sd + (alpha - 1) * least * least);
  const auto x = skies(2);
  for (auto [name, options] : all_terms()) {
    // The same ones, whatever their SDs; of all triangles some imply others.
    const bool correlated = options.errors == ClosureErrors::covariance;
    const vlbi::ClosureOptions all{.rule = correlated ? vlbi::ClosureRule::ehtim_min : vlbi::ClosureRule::ehtim_max};
    options.grid = grid();
    options.debias_amplitudes = false;  // the noise that is taken out of them is the data's own
    const InterferometryLikelihood likelihood(sky_shape, quiet, vlbi::form_closures(quiet, all), options, in_double);
    if (options.flux) options.flux->sd = std::sqrt(std::pow(options.flux->sd, 2) + (alpha - 1) * least * least);
    if (options.position) options.position->sd *= std::sqrt(alpha);
    const InterferometryLikelihood expected(sky_shape, noisy, vlbi::form_closures(noisy, all), options, in_double);
    const auto found = likelihood.noisier(at::scalar_tensor(alpha, at::kDouble));
    ASSERT_TRUE(found) << name;
    EXPECT_LT(test::relative_error(found->value(x), expected.value(x)), 1e-12) << name;
    EXPECT_LT(test::relative_error(found->grad(x), expected.grad(x)), 1e-12) << name;
    const auto as_it_is = likelihood.noisier(at::scalar_tensor(1, at::kDouble));
    EXPECT_TRUE(as_it_is->grad(x).equal(likelihood.grad(x))) << name;
  }
}

/// One bright pixel, two to the east and three to the north of the middle: the energy is known.
TEST(Interferometry, PositionIsTheDistanceOfTheLightFromTheMiddle) {
  const auto observation = observed(skies(1, 9));
  const double pixel = grid().pixel, sd = 3 * pixel, total = 30;
  InterferometryOptions options{.flux = InterferometryOptions::Flux{0, total, 1}};
  options.position = InterferometryOptions::Position{1, sd, total};
  auto x = at::zeros({1, 1, side, side}, at::kDouble);
  x[0][0][0][1] = total;  // row 0 is 3.5 pixels to the north, column 1 is 2.5 to the east
  const double expected = 0.5 * (3.5 * 3.5 + 2.5 * 2.5) / 9;
  EXPECT_NEAR(make_terms(observation, options).value(x).item<double>(), expected, 1e-12);
}

TEST(Interferometry, GradientsAreThoseOfTheValues) {
  const auto observation = observed(skies(1, 9));
  const auto x = skies(2), direction = skies(2, 5) - 0.5;
  for (const auto& [name, options] : all_terms()) {
    const auto likelihood = make_terms(observation, options);
    // Central differences: h^2 of a third derivative of order one relative to the first, and 1e-16 / h of rounding.
    const double h = 1e-5;
    const auto expected = (likelihood.value(x + h * direction) - likelihood.value(x - h * direction)) / (2 * h);
    const auto found = flat(likelihood.grad(x) * direction).sum(1);
    EXPECT_LT(test::relative_error(found, expected), 1e-6) << name;
    const auto [value, grad] = likelihood.value_and_grad(x);
    EXPECT_TRUE(value.equal(likelihood.value(x))) << name;
    EXPECT_TRUE(grad.equal(likelihood.grad(x))) << name;
  }
}

TEST(Interferometry, ChainsAreIndependent) {
  const auto observation = observed(skies(1, 9));
  const auto x = skies(3);
  for (const auto& [name, options] : all_terms()) {
    const auto likelihood = make_terms(observation, options);
    const auto together = likelihood.grad(x), values = likelihood.value(x);
    EXPECT_EQ(together.sizes(), x.sizes());
    for (int64_t chain = 0; chain < 3; ++chain) {
      const auto alone = x.narrow(0, chain, 1);
      EXPECT_LT(test::relative_error(likelihood.grad(alone), together.narrow(0, chain, 1)), 1e-12) << name;
      EXPECT_LT(test::relative_error(likelihood.value(alone), values.narrow(0, chain, 1)), 1e-12) << name;
    }
  }
}

TEST(Interferometry, TheTruthHasNoMisfitAndNoPull) {
  const auto truth = skies(1, 9);
  for (const auto& [name, options] : all_terms()) {
    // 30 Jy is no truth; amplitudes are debiased; the truth is not in the middle.
    if (options.flux || options.amplitude > 0 || options.position) continue;
    const auto likelihood = make_terms(observed(truth), options);
    EXPECT_LT(likelihood.value(truth).item<double>(), 1e-20) << name;
    EXPECT_LT(likelihood.grad(truth).abs().max().item<double>(), 1e-8) << name;
  }
}

TEST(Interferometry, TypicalCurvatureIsTheLargestAtTheTruth) {
  const auto truth = skies(1, 9);
  for (const auto& [name, options] : all_terms()) {
    if (options.black != 0 || options.jy_per_unit != 1) continue;  // the data are those of one Jy a unit
    const auto likelihood = make_terms(observed(truth, 0.005), options);
    EXPECT_FALSE(likelihood.lipschitz());
    // The whole matrix of second derivatives, column by column; amplitudes are debiased by 1e-5 of themselves.
    const double h = 1e-5;
    std::vector<Tensor> columns;
    for (int64_t pixel = 0; pixel < truth.numel(); ++pixel) {
      auto step = at::zeros_like(truth);
      step.flatten()[pixel] = h;
      columns.push_back((likelihood.grad(truth + step) - likelihood.grad(truth - step)).flatten() / (2 * h));
    }
    const double largest = at::linalg_eigvalsh(at::stack(columns)).max().item<double>();
    const double found = *likelihood.typical_curvature();
    EXPECT_LT(found, 1.02 * largest) << name;
    EXPECT_GT(found, 0.85 * largest) << name;  // thirty steps of the power iteration
  }
}

/// |V|, |V - y| and the flux by plain loops over the DFT.
TEST(Interferometry, ValuesByHand) {
  const auto observation = observed(skies(1, 9));
  const auto x = skies(1);
  const auto V = vlbi::dft_matrix(observation, grid()).matmul(x.flatten()).view({2, -1});
  double amplitude = 0, visibility = 0;
  for (size_t k = 0; k < observation.visibilities.size(); ++k) {
    const auto& row = observation.visibilities[k];
    const std::complex<double> model(V[0][static_cast<int64_t>(k)].item<double>(),
                                     V[1][static_cast<int64_t>(k)].item<double>());
    const double measured = std::sqrt(std::max(0.0, std::norm(row.value) - row.sd * row.sd));
    amplitude += std::pow((std::abs(model) - measured) / row.sd, 2) / 2;
    visibility += std::norm(model - row.value) / (2 * row.sd * row.sd);
  }
  const double flux = x.sum().item<double>();
  EXPECT_NEAR(make_terms(observation, {.amplitude = 1}).value(x).item<double>(), amplitude, 1e-10 * amplitude);
  EXPECT_NEAR(make_terms(observation, {.visibility = 1}).value(x).item<double>(), visibility, 1e-10 * visibility);
  const auto likelihood = make_terms(observation, {.flux = InterferometryOptions::Flux{1, 20, 0.5}});
  EXPECT_NEAR(likelihood.value(x).item<double>(), std::pow((flux - 20) / 0.5, 2) / 2, 1e-9);
  EXPECT_EQ(likelihood.misfit(x).at(0).data_count, 1);
}

/// Uncorrelated closures do not exist, but one triangle alone has only its own variance.
TEST(Interferometry, CovarianceOfOneTriangleIsItsVariance) {
  auto observation = observed(skies(1, 9));
  std::erase_if(observation.visibilities, [](const auto& row) { return row.second > 2; });
  const auto x = skies(4);
  for (const auto law : {PhaseLaw::cosine, PhaseLaw::wrapped_square}) {
    const auto diagonal = make_terms(observation, {.closure_phase = 1, .phase_law = law});
    const auto covariance =
        make_terms(observation, {.closure_phase = 1, .phase_law = law, .errors = ClosureErrors::covariance});
    EXPECT_LT(test::relative_error(covariance.value(x), diagonal.value(x)), 1e-12);
    EXPECT_LT(test::relative_error(covariance.grad(x), diagonal.grad(x)), 1e-12);
  }
}

/// r^T C^-1 r of all independent closures does not depend on which were chosen: any basis of the same space will do.
TEST(Interferometry, CorrelatedErrorsDoNotMindTheChoiceOfClosures) {
  const auto observation = observed(skies(1, 9), 0.001);
  InterferometryOptions options{
      .closure_phase = 1, .phase_law = PhaseLaw::wrapped_square, .errors = ClosureErrors::covariance};
  options.log_closure_amplitude = 1;
  options.grid = grid();
  // Near the truth, where no phase is wrapped.
  const auto x = skies(1, 9) + 0.001 * (skies(3) - 0.5);
  const auto value = [&](vlbi::ClosureRule rule) {
    const auto closures = vlbi::form_closures(observation, {.rule = rule});
    return InterferometryLikelihood(sky_shape, observation, closures, options, in_double).value(x);
  };
  EXPECT_LT(test::relative_error(value(vlbi::ClosureRule::complete), value(vlbi::ClosureRule::ehtim_min)), 1e-8);
}

TEST(Interferometry, RedundantClosuresHaveNoCovarianceToInvert) {
  const auto observation = observed(skies(1, 9));
  InterferometryOptions options{.grid = grid(), .closure_phase = 1, .errors = ClosureErrors::covariance};
  const auto closures = vlbi::form_closures(observation, {.rule = vlbi::ClosureRule::ehtim_max});
  const auto message =
      test::message_of([&] { InterferometryLikelihood(sky_shape, observation, closures, options, in_double); });
  EXPECT_TRUE(test::contains(message, "imply each other")) << message;
}

TEST(Interferometry, ClosuresDoNotSeeTheStationsErrors) {
  const auto clean = observed(skies(1, 9));
  auto dirty = clean;
  for (auto& row : dirty.visibilities) {
    const auto gain = [&](int s) { return std::polar(std::exp(std::sin(3.0 * s + row.time)), 5.0 * s * row.time + s); };
    const auto error = gain(row.first) * std::conj(gain(row.second));
    row.value *= error;
    row.sd *= std::abs(error);
  }
  const auto x = skies(3);
  const InterferometryOptions closures{.closure_phase = 1, .log_closure_amplitude = 1};
  EXPECT_LT(test::relative_error(make_terms(dirty, closures).value(x), make_terms(clean, closures).value(x)), 1e-6);
  EXPECT_LT(test::relative_error(make_terms(dirty, closures).grad(x), make_terms(clean, closures).grad(x)), 1e-6);
  const InterferometryOptions amplitudes{.amplitude = 1};
  EXPECT_GT(test::relative_error(make_terms(dirty, amplitudes).value(x), make_terms(clean, amplitudes).value(x)), 0.01);
}

/// Brightness and place are not in the closures; half a turn flips the phases and leaves the amplitudes.
TEST(Interferometry, WhatClosuresDoNotKnow) {
  const auto observation = observed(skies(1, 9));
  const auto x = skies(2);
  const InterferometryOptions closures{.closure_phase = 1, .log_closure_amplitude = 1};
  const auto likelihood = make_terms(observation, closures);
  EXPECT_LT(test::relative_error(likelihood.value(3 * x), likelihood.value(x)), 1e-9);
  EXPECT_LT(flat(likelihood.grad(x) * x).sum(1).abs().max().item<double>(),
            1e-9 * likelihood.value(x).max().item<double>());
  const auto turned = x.flip({2, 3});
  const auto amplitudes = make_terms(observation, {.log_closure_amplitude = 1});
  EXPECT_LT(test::relative_error(amplitudes.value(turned), amplitudes.value(x)), 1e-9);
  const auto phases = make_terms(observation, {.closure_phase = 1});
  EXPECT_GT(test::relative_error(phases.value(turned), phases.value(x)), 0.01);
}

/// An image without brightness has V = 0 everywhere.
TEST(Interferometry, NothingIsInfiniteAtANull) {
  const auto observation = observed(skies(1, 9));
  for (const auto& [name, options] : all_terms()) {
    const auto likelihood = make_terms(observation, options);
    const auto x = at::full({1, 1, side, side}, options.black, at::kDouble);
    EXPECT_TRUE(likelihood.value(x).isfinite().all().item<bool>()) << name;
    EXPECT_TRUE(likelihood.grad(x).isfinite().all().item<bool>()) << name;
  }
}

/// A mean of N terms of variance 2 each: 4 standard errors of sqrt(2/N), N = 16 draws times the data.
TEST(Interferometry, SimulatedDataFitTheirTruth) {
  const auto truth = skies(1, 9);
  const auto clean = observed(truth, 0.01);
  const auto likelihood = make_terms(clean, {.visibility = 1});
  double total = 0, count = 0;
  for (int64_t draw = 0; draw < 16; ++draw) {
    const auto V = likelihood.simulate(truth, {3, draw, 0}).to(at::kComplexDouble);
    ASSERT_EQ(V.sizes(), at::IntArrayRef({1, static_cast<int64_t>(clean.visibilities.size())}));
    auto noisy = clean;
    for (size_t k = 0; k < noisy.visibilities.size(); ++k) {
      const auto z = V[0][static_cast<int64_t>(k)].item<c10::complex<double>>();
      noisy.visibilities[k].value = {z.real(), z.imag()};
    }
    const auto fit =
        make_terms(
            noisy,
            {.closure_phase = 1, .log_closure_amplitude = 1, .visibility = 1, .errors = ClosureErrors::covariance})
            .misfit(truth);
    ASSERT_EQ(fit.size(), 3u);
    for (const auto& term : fit) {
      total += term.chi2.item<double>() * static_cast<double>(term.data_count);
      count += static_cast<double>(term.data_count);
    }
  }
  // Closures are functions of the visibilities, so of these only half are independent.
  EXPECT_NEAR(total / count, 1, 4 * std::sqrt(2 * 2 / count));
}

struct InterferometryOn : testing::TestWithParam<at::DeviceType> {};

TEST_P(InterferometryOn, EveryDeviceAndPrecisionAgrees) {
  const auto observation = observed(skies(1, 9));
  const auto x = skies(2);
  for (const auto& [name, options] : all_terms()) {
    const auto exact = make_terms(observation, options);
    // Single: 64 pixels of 24 bits; a visibility may be a hundredth of the flux.
    for (const auto& [precision, tolerance] : {std::pair{at::kFloat, 1e-4}, {at::kDouble, 1e-12}}) {
      const auto there = make_terms(observation, options, {precision, GetParam()});
      const auto [value, grad] = there.value_and_grad(x.to(GetParam(), precision));
      EXPECT_LT(test::relative_error(grad.cpu(), exact.grad(x)), tolerance) << name;
      EXPECT_LT(test::relative_error(value.cpu(), exact.value(x)), tolerance) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, InterferometryOn, testing::ValuesIn(test::devices()),
                         [](const auto& info) { return test::name_of(info.param); });

TEST(Interferometry, BadRowsAreNamed) {
  auto observation = observed(skies(1, 9));
  const InterferometryOptions options{.visibility = 1};
  observation.visibilities[3].sd = 0;
  EXPECT_TRUE(test::contains(test::message_of([&] { make_terms(observation, options); }),
                             "visibility 3: expected a finite sd"));
  observation.visibilities[3].sd = 1;
  observation.visibilities[4].u = INFINITY;
  EXPECT_TRUE(
      test::contains(test::message_of([&] { make_terms(observation, options); }), "visibility 4: expected finite u"));
  EXPECT_TRUE(test::contains(test::message_of([&] { make_terms({}, options); }), "expected visibilities, found none"));
  EXPECT_TRUE(test::contains(test::message_of([&] { make_terms(observed(skies(1)), {}); }), "expected at least one"));
  auto pair = observed(skies(1));
  std::erase_if(pair.visibilities, [](const auto& row) { return row.second > 1; });
  EXPECT_TRUE(test::contains(test::message_of([&] { make_terms(pair, {.closure_phase = 1}); }), "terms.closure_phase"));
}

TEST(Interferometry, WrongShapesAreRefused) {
  const auto likelihood = make_terms(observed(skies(1, 9)), {.visibility = 1});
  const auto wrong = at::zeros({1, 1, side, side + 1}, at::kDouble);
  for (const auto& message :
       {test::message_of([&] { likelihood.value(wrong); }), test::message_of([&] { likelihood.grad(wrong); }),
        test::message_of([&] { likelihood.misfit(wrong); }), test::message_of([&] { likelihood.simulate(wrong, {}); })})
    EXPECT_TRUE(test::contains(message, "expected [chains]x1x8x8")) << message;
  InterferometryOptions colour{.grid = grid(), .visibility = 1};
  EXPECT_TRUE(test::contains(test::message_of([&] {
                               InterferometryLikelihood({3, side, side}, observed(skies(1)), {}, colour, in_double);
                             }),
                             "images of one channel"));
}

/// More rows than a block of the matrix's construction; a middle pixel, which is its own opposite, or none.
TEST(Interferometry, TheTransformIsItsMatrix) {
  const auto observation = test::synthetic_observation(12, 10);
  for (const int64_t height : {side, side + 1}) {
    const vlbi::PixelGrid grid{height, height - 2, 20 * vlbi::microarcsecond, vlbi::Pulse::triangle};
    const auto A = vlbi::dft_matrix(observation, grid);
    ASSERT_GT(A.size(0), 2 * 512);
    const vlbi::DirectTransform transform(observation, grid, 0.5, in_double);
    const auto x = test::numbers(3, {3, height * (height - 2)}, 1);
    EXPECT_LT(test::relative_error(transform.apply(x), 0.5 * A.matmul(x.t())), 1e-13);
    const auto w = A.matmul(x.t());
    EXPECT_LT(test::relative_error(transform.transposed(w), 0.5 * w.t().matmul(A)), 1e-13);
    EXPECT_LT(test::relative_error(transform.of_ones(), 0.5 * A.sum(1, true)), 1e-13);
  }
}

TEST(Interferometry, TheFluxIsSeenOnShortBaselines) {
  auto observation = test::synthetic_observation(3, 1);
  observation.visibilities[0].value = 3;
  EXPECT_EQ(visible_flux(observation), 3);
  observation.visibilities[1].u = observation.visibilities[1].v = 1e6;
  EXPECT_EQ(visible_flux(observation), 1);
}

}  // namespace
}  // namespace penumbra
