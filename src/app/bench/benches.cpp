#include "app/bench/benches.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "app/bench/table.h"
#include "core/named.h"
#include "likelihoods/gaussian.h"
#include "models/mri.h"
#include "models/sampling_mask.h"
#include "run/graph_step.h"
#include "run/recorded_work.h"
#include "samplers/pmc.h"
#include "training/trainer.h"

namespace penumbra::app {
namespace {

constexpr double bench_sigma = 0.05;

double gflop(const BenchOptions& options, const NetworkScore& prior) {
  return gflop_per_image(prior) * static_cast<double>(options.batch);
}

void add_score(BenchTable& table, const BenchOptions& options, const NetworkScore& prior, const Tensor& x) {
  const auto timing = measure(x.device(), options.seconds, [&] { prior.score(x, bench_sigma); });
  table.add({"network", timing, gflop(options, prior)});
}

/// As an iteration evaluates it: recorded, where that can be, with its level in device memory.
void add_recorded_score(BenchTable& table, const BenchOptions& options, const NetworkScore& prior, const Tensor& x) {
  if (!x.is_cuda()) return add_score(table, options, prior, x);
  const auto sigma = at::full({}, bench_sigma, x.options().dtype(at::kDouble));
  RecordedWork recorded;
  Tensor score;  // lives as long as the recording, which writes it
  const auto refusal = recorded.record(
      x.device(), [&] { prior.score_held(x, sigma); }, [&] { score = prior.score_held(x, sigma); });
  if (!refusal.empty()) return add_score(table, options, prior, x);
  const auto timing = measure(x.device(), options.seconds, [&] { recorded.replay(); });
  table.add({"network", timing, gflop(options, prior), "CUDA graph"});
}

/// One coil that sees everything alike, and the paper's 32 radial lines.
std::shared_ptr<const ForwardModel> radial_mri(const Shape& image, const Placement& placement) {
  MriOptions options;
  options.mask = radial_mask(image[1], image[2], 32);
  return std::make_shared<MriModel>(image, options, placement);
}

std::shared_ptr<const ForwardModel> gaussian_projection(double ratio, const Shape& image, const Placement& placement) {
  auto settings = Settings::from_text(fmt::format("{{ratio: {}}}", ratio), "bench");
  return find_named(forward_model_entries(), "gaussian")->make(settings, image, placement);
}

void add_iteration(BenchTable& table, const std::string& name, const BenchOptions& options,
                   const std::shared_ptr<const NetworkScore>& prior, const std::shared_ptr<const ForwardModel>& A,
                   const Tensor& x) {
  constexpr double beta = 0.01, gamma = 1e-7;
  const auto g = std::make_shared<GaussianLikelihood>(A, A->apply(x.narrow(0, 0, 1))[0], beta);
  // Levels that change at every step, as while a run anneals.
  const GeometricSchedule::Options levels{.sigma_0 = 1, .sigma_min = 1e-3, .xi = 0.99, .alpha_0 = 1e4};
  const AnnealedPmc sampler(
      {g, prior}, 1,
      {.discretization = Discretization::pnp, .gamma = gamma, .schedule = std::make_shared<GeometricSchedule>(levels)});
  ChainState state{x, 0, 0};
  GraphStep step(sampler);
  const auto timing = measure(x.device(), options.seconds, [&] { step(state); });
  table.add({name, timing, {}, step.how()});
}

/// Random images, enough that batches differ.
training::ImageSet random_images(const Shape& shape, int64_t count) {
  Shape all = shape;
  all.insert(all.begin(), count);
  const auto numbers = uniform({2, 0, 0}, Stream::truth, at::empty(all, at::TensorOptions().dtype(at::kFloat)));
  training::ImageSet images;
  images.train = (numbers * 255).to(at::kByte);
  images.validation = images.train.narrow(0, 0, 1);
  return images;
}

}  // namespace

void bench_network_alone(const BenchOptions& options, const at::Device& device) {
  c10::NoGradGuard no_gradients;
  const Placement placement{at::kFloat, device};
  const auto prior = bench_network(options, placement);
  BenchTable table("network", options, *prior, device);
  add_recorded_score(table, options, *prior, bench_images(*prior, options.batch, placement));
  table.print();
}

void bench_iteration(const BenchOptions& options, const at::Device& device) {
  c10::NoGradGuard no_gradients;
  const Placement placement{at::kFloat, device};
  const auto prior = bench_network(options, placement);
  const auto& image = prior->image_shape();
  BenchTable table("iteration", options, *prior, device);
  const auto x = bench_images(*prior, options.batch, placement);
  add_recorded_score(table, options, *prior, x);
  add_iteration(table, "MRI iteration", options, prior, radial_mri(image, placement), x);
  for (const double ratio : {0.1, 0.3})
    add_iteration(table, fmt::format("CS {} iteration", ratio), options, prior,
                  gaussian_projection(ratio, image, placement), x);
  table.print();
}

void bench_training(const BenchOptions& options, const at::Device& device) {
  const auto prior = bench_network(options, {at::kFloat, device});
  const auto& loaded = prior->loaded();
  training::TrainerOptions how;
  how.steps = int64_t{1} << 40;
  how.batch = options.batch;
  how.compute = loaded.network.compute;
  auto images = random_images(prior->image_shape(), 4 * options.batch);
  images.move_to(device);
  const Team alone;
  training::Trainer trainer(how, loaded.header, images, alone, device);
  BenchTable table("train", options, *prior, device);
  const auto timing = measure(device, options.seconds, [&] { trainer.step(); });
  // Backwards, each product has two of its size.
  table.add({"training step", timing, 3 * gflop_per_image(*prior) * static_cast<double>(options.batch)});
  table.print();
}

}  // namespace penumbra::app
