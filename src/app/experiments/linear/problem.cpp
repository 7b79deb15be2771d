#include "app/experiments/linear/problem.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "app/experiments/linear/scaled_denoiser.h"
#include "app/generation.h"
#include "likelihoods/gaussian.h"
#include "training/images.h"
#include "training/reconstruction.h"

namespace penumbra::app::linear {
namespace {

std::shared_ptr<const Score> read_prior(const std::string& text, const std::string& name, Problem& problem) {
  const auto settings = Settings::from_text(text, name);
  auto prior = make_prior(settings, problem.placement);
  for (const auto& file : settings.files()) problem.files.push_back(file);
  return prior;
}

/// Evenly spread over the folder in the order of the names, so that neighbouring slices do not stand for one another.
void read_truths(Problem& problem, const ProblemOptions& options) {
  const auto& shape = problem.prior->image_shape();
  training::ImageSetOptions folder;
  folder.folder = options.images;
  folder.channels = shape[0];
  folder.height = shape[1];
  folder.width = shape[2];
  folder.least = 1;
  const auto set = training::read_images(folder);
  const auto found = set.train.size(0), count = std::min(options.count, found);
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < count; ++i) rows.push_back(i * found / count);
  for (const auto row : rows) problem.names.push_back(set.train_names[static_cast<size_t>(row)]);
  problem.truths = set.batch(at::tensor(rows));
  problem.source = fmt::format("{} of the {} images in {}", count, found, options.images.filename().string());
  problem.fingerprint = set.fingerprint;
}

void draw_truths(Problem& problem, const ProblemOptions& options) {
  Generation how;
  how.count = options.count;
  how.seed = options.seed;
  how.sigma_min = 0.005;
  problem.truths = generate_images(problem.prior, how, problem.placement).images.clamp(-1, 1);
  for (int64_t i = 0; i < options.count; ++i) problem.names.push_back(fmt::format("draw {}", i + 1));
  problem.source = fmt::format("{} draws of the prior itself, which flatters it (--faces and --brains take real ones)",
                               options.count);
  problem.fingerprint = fmt::format("draws of seed {}", options.seed);
}

/// y = A x + e, one noise level for all images, as a scanner has: the mean input SNR is what was asked for.
void measure(Problem& problem, const ProblemOptions& options) {
  const auto x = place(problem.truths, problem.placement);
  const auto levels = training::level_db(*problem.A, x);
  const double noise_db = levels.mean().item<double>() - options.snr_db;
  problem.beta = std::pow(10, noise_db / 20);
  for (int64_t i = 0; i < levels.size(0); ++i) problem.snr_db.push_back(levels[i].item<double>() - noise_db);
  const training::LinearMeasurement measurement{problem.A, problem.beta, problem.norm_sq};
  problem.y = measurement.measure(x, {options.seed, 0, 0}, Stream::measurement);
}

void choose_denoiser(Problem& problem, const ProblemOptions& options) {
  if (options.denoiser.empty()) {
    problem.denoiser = problem.prior;
    problem.denoiser_name = problem.task.prior;
    return;
  }
  const auto& shape = problem.prior->image_shape();
  const double level = 25.0 / 255;
  const auto text = fmt::format(
      "{{kind: network, file: '{}', compute: float32, sigma_range: [{:.17g}, {:.17g}], network_pixel_range: [0, 1], "
      "pixel_range: [-1, 1], image_shape: [{}, {}, {}]}}",
      std::filesystem::absolute(options.denoiser).string(), level, level, shape[0], shape[1], shape[2]);
  problem.denoiser = std::make_shared<ScaledDenoiser>(read_prior(text, "--denoiser", problem), 2 * level);
  problem.denoiser_name = options.denoiser.filename().string();
}

}  // namespace

std::shared_ptr<const Likelihood> Problem::likelihood(int64_t first, int64_t count, int64_t chains) const {
  return std::make_shared<ManyImages>(A, y.narrow(0, first, count), ManyImages::Noise{beta, norm_sq}, chains);
}

Tensor Problem::adjoint() const { return A->vjp(place(truths, placement), y).cpu(); }

Problem make_problem(const Task& task, const ProblemOptions& options) {
  Problem problem;
  problem.task = task;
  problem.placement = options.placement;
  problem.prior = read_prior(fmt::format("{{kind: network, name: {}}}", task.prior), task.key, problem);
  if (options.images.empty())
    draw_truths(problem, options);
  else
    read_truths(problem, options);
  const auto likelihood = std::dynamic_pointer_cast<const GaussianLikelihood>(make_likelihood(
      Settings::from_text(task.model, task.key), problem.prior->image_shape(), options.placement, Purpose::simulate));
  problem.A = {likelihood, &likelihood->model()};
  problem.norm_sq = squared_norm(*problem.A, options.placement);
  measure(problem, options);
  choose_denoiser(problem, options);
  return problem;
}

}  // namespace penumbra::app::linear
