/// The Langevin kernel and the recorded step against LibTorch's operations and the plain step. Skipped without a GPU.
#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "diagnostics/moments.h"
#include "run/graph_step.h"
#include "samplers/cuda_langevin.h"
#include "samplers/langevin.h"
#include "samplers/pmc.h"
#include "support/paths.h"
#include "support/small_network.h"

namespace penumbra {
namespace {

struct CudaStep : testing::Test {
  void SetUp() override {
    if (!at::hasCUDA()) GTEST_SKIP() << "no GPU here";
  }
  c10::NoGradGuard no_gradients;
};

Tensor numbers_like(const Shape& shape, int64_t k) {
  return normal({9, 0, k}, Stream::probe, at::empty(shape, at::TensorOptions().dtype(at::kFloat)));
}

/// Rows that are no whole blocks of noise, and tensors that begin anywhere.
TEST_F(CudaStep, LangevinUpdateIsTheFormula) {
  const Cursor at{11, 5, 1234567};
  const StepNumbers numbers{0.3, 7.5, 2e-3, 0.063, at.k};
  for (const Shape& shape : {Shape{3, 1, 16, 16}, Shape{2, 1, 7, 9}, Shape{1, 1, 1, 1}, Shape{5, 3, 33, 31}}) {
    const auto x = numbers_like(shape, 0), g = numbers_like(shape, 1), s = numbers_like(shape, 2);
    const auto expected = langevin_update(x, g, s, StepScalars::of(numbers), at);
    const auto there = [](const Tensor& t) { return t.to(at::kCUDA); };
    ASSERT_TRUE(cuda_langevin_serves(there(x), there(g), there(s))) << describe(shape);
    const auto known = cuda_langevin_update(there(x), there(g), there(s), StepScalars::of(numbers), at);
    EXPECT_LT(test::relative_error(known.cpu(), expected), 1e-6) << describe(shape);
    auto values = at::empty({5}, at::TensorOptions().dtype(at::kDouble).device(at::kCUDA));
    numbers.write(values);
    const auto held = cuda_langevin_update(there(x), there(g), there(s), StepScalars::in(values), {at.seed, 5, -1});
    EXPECT_TRUE(held.equal(known)) << describe(shape);
  }
  // Whole blocks of noise, but numbers that do not begin where four can be read at once.
  const auto whole = numbers_like({1 + 3 * 256}, 3).to(at::kCUDA);
  for (const auto& part : {whole.narrow(0, 1, 3 * 256).view({3, 1, 16, 16}),
                           numbers_like({4, 1, 5, 7}, 3).to(at::kCUDA).narrow(0, 1, 3)}) {
    const auto moved = cuda_langevin_update(part, part, part, StepScalars::of(numbers), at);
    const auto here = part.cpu();
    EXPECT_LT(test::relative_error(moved.cpu(), langevin_update(here, here, here, StepScalars::of(numbers), at)), 1e-6);
  }
}

struct Run {
  ChainState state;
  std::vector<double> norms;
};

template <typename Step>
Run run(Step&& step, int64_t steps) {
  Run run{{test::small_images(5, at::kCUDA), 0, 2}, {}};
  while (run.state.k < steps) {
    const auto info = step(run.state);
    run.norms.push_back(info.score_norm.sum().template item<double>());
  }
  return run;
}

void expect_recorded_is_plain(const CapturableSampler& sampler, double tolerance) {
  constexpr int64_t steps = 30;
  GraphStep recorded(sampler);
  const auto a = run(recorded, steps);
  ASSERT_EQ(recorded.how(), "CUDA graph");
  const auto b = run([&](ChainState& state) { return sampler.step(state); }, steps);
  EXPECT_LE(test::relative_error(a.state.x.cpu(), b.state.x.cpu()), tolerance);
  for (size_t i = 0; i < a.norms.size(); ++i) EXPECT_NEAR(a.norms[i], b.norms[i], 1e-4 * b.norms[i]) << "step " << i;
}

/// One graph for all sigma and alpha; two where the operations change when the schedule settles.
TEST_F(CudaStep, RecordedIsThePlainStep) {
  const auto posterior = test::small_posterior(test::small_network(at::kCUDA, Compute::float32), at::kCUDA);
  const auto schedule = std::make_shared<GeometricSchedule>(
      GeometricSchedule::Options{.sigma_0 = 1, .sigma_min = 0.1, .xi = 0.8, .alpha_0 = 9});
  for (const bool denoised : {false, true})
    expect_recorded_is_plain(
        AnnealedPmc(posterior, 3,
                    {.discretization = Discretization::pnp, .gamma = 1e-4, .schedule = schedule, .denoised = denoised}),
        1e-5);
  expect_recorded_is_plain(Pmc(posterior, 3, {.discretization = Discretization::red, .gamma = 1e-4, .sigma = 0.2}),
                           1e-5);
}

/// What is derived for an interferometer: through the network, with data whose noise is annealed, and momentum.
TEST_F(CudaStep, RecordedIsThePlainStepThroughTheNetworkAndTheLevelsOfTheData) {
  auto posterior = test::small_posterior(test::small_network(at::kCUDA, Compute::float32), at::kCUDA);
  const auto schedule = std::make_shared<GeometricSchedule>(
      GeometricSchedule::Options{.sigma_0 = 1, .sigma_min = 0.1, .xi = 0.8, .alpha_0 = 9});
  for (const bool closures : {false, true}) {
    if (closures) posterior.likelihood = test::small_closures(posterior.image_shape(), at::kCUDA);
    expect_recorded_is_plain(AnnealedPmc(posterior, 3,
                                         {.discretization = Discretization::pnp,
                                          .gamma = closures ? 1e-6 : 1e-4,
                                          .schedule = schedule,
                                          .warm = true,
                                          .denoised = true,
                                          .added_noise = closures,
                                          .chain_rule = true,
                                          .momentum = 0.8}),
                             1e-5);
  }
}

TEST_F(CudaStep, StatesAreNotOverwrittenByTheNextStep) {
  const auto posterior = test::small_posterior(test::small_network(at::kCUDA, Compute::bfloat16), at::kCUDA);
  const Pmc sampler(posterior, 3, {.gamma = 1e-3, .sigma = 0.2});
  GraphStep step(sampler);
  ChainState state{test::small_images(2, at::kCUDA), 0, 0};
  step(state);
  const auto kept = state.x, copy = state.x.clone();
  step(state);
  EXPECT_TRUE(kept.equal(copy));
  EXPECT_FALSE(state.x.equal(copy));
}

TEST_F(CudaStep, MomentsAreThoseOfTheCpu) {
  diagnostics::RunningMoments here, there;
  for (int64_t k = 0; k < 6; ++k) {
    const auto x = numbers_like({3, 1, 7, 9}, k);
    here.add(x);
    there.add(x.to(at::kCUDA));
  }
  EXPECT_LT(test::relative_error(there.mean(), here.mean()), 1e-12);
  EXPECT_LT(test::relative_error(there.sd(), here.sd()), 1e-12);
  diagnostics::RunningMoments restored;
  restored.restore(there.state());
  restored.add(numbers_like({3, 1, 7, 9}, 6).to(at::kCUDA));
  here.add(numbers_like({3, 1, 7, 9}, 6));
  EXPECT_LT(test::relative_error(restored.sd(), here.sd()), 1e-12);
}

}  // namespace
}  // namespace penumbra
