#include "app/train_task.h"

#include <ATen/ATen.h>

namespace penumbra::app {
namespace {

/// The numbers of at most so many images: not the first ones, since neighbours in a folder are often alike.
Tensor every_nth(const training::ImageSet& images, int64_t most) {
  const auto count = images.train.size(0);
  return at::arange(0, count, (count + most - 1) / most);
}

double mean_level_db(const ForwardModel& A, const training::ImageSet& images, const Placement& placement) {
  constexpr int64_t at_once = 16;
  const auto chosen = every_nth(images, 256);
  double sum = 0;
  for (const auto& rows : chosen.split(at_once))
    sum += training::level_db(A, images.batch(rows, placement)).sum().item<double>();
  return sum / static_cast<double>(chosen.size(0));
}

/// The noise is told beside it, as it is on the images.
std::string without_noise(std::string section) {
  const auto from = section.find("noise_sd:");
  return section.erase(from, section.find('\n', from) + 1 - from);
}

}  // namespace

std::optional<ReconstructionPlan> task_setting(Settings section, const Shape& image_shape, const Placement& placement) {
  if (section.choice("kind", {"denoising", "reconstruction"}) == "denoising") return std::nullopt;
  ReconstructionPlan plan;
  auto likelihood = section.section("likelihood");
  if (section.has("snr_db") || !likelihood.has("noise_sd")) plan.snr_db = section.number("snr_db", 40, {-100, 300});
  // Its level is the one of snr_db then.
  likelihood.set_default("noise_sd", "1");
  plan.likelihood = std::dynamic_pointer_cast<const GaussianLikelihood>(
      make_likelihood(likelihood, image_shape, placement, Purpose::simulate));
  if (!plan.likelihood || !plan.likelihood->model().linear())
    likelihood.fail("kind", "expected a linear model with Gaussian noise, which a reconstruction network is made for");
  plan.said = without_noise(likelihood.resolved());
  return plan;
}

std::shared_ptr<const training::Task> make_task(const ReconstructionPlan& plan, const training::ImageSet& images,
                                                const Placement& placement, nlohmann::json& record) {
  const auto& likelihood = plan.likelihood;
  training::LinearMeasurement measurement;
  // The likelihood owns the model.
  measurement.A = {likelihood, &likelihood->model()};
  const double unit = likelihood->noise_sd().value();
  measurement.norm_sq = likelihood->lipschitz().value() * unit * unit;
  measurement.beta =
      plan.snr_db ? std::pow(10, (mean_level_db(*measurement.A, images, placement) - *plan.snr_db) / 20) : unit;
  record["task"] = {{"kind", "reconstruction"}, {"likelihood", plan.said}, {"noise_sd", measurement.beta}};
  if (plan.snr_db) record["task"]["snr_db"] = *plan.snr_db;
  return std::make_shared<training::Reconstruction>(measurement);
}

double pixel_spread(const training::ImageSet& images) {
  const auto sample = images.batch(every_nth(images, 2048), {at::kFloat, at::kCPU});
  // Images of one gray have no spread; the floor is 0.001 for [-1, 1].
  const double least = 5e-4 * (images.high - images.low);
  return std::max(least, sample.to(at::kDouble).std().item<double>());
}

}  // namespace penumbra::app
