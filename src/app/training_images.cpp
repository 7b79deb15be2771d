#include "app/training_images.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "app/blackhole_data.h"
#include "app/command.h"
#include "app/progress.h"
#include "app/sd_file.h"
#include "core/error.h"
#include "priors/pixel_sd.h"

namespace penumbra::app {

training::ImageSet read_training_images(const TrainPlan& plan, bool shown) {
  Progress progress;
  const auto shown_as = [&](const char* what) {
    return [&, what](int64_t done, int64_t total) {
      if (shown) progress.show(done, total, {}, what);
    };
  };
  if (plan.blackholes) return generate_data(*plan.blackholes, plan.data, shown_as("images made"));
  return training::read_images(plan.data, shown_as("images read"));
}

PixelSpread training_spread(const training::ImageSet& images) {
  const auto count = images.train.size(0);
  Tensor sum, squares;
  for (int64_t first = 0; first < count; first += 256) {
    const auto batch = images.batch(at::arange(first, std::min(count, first + 256))).to(at::kDouble);
    const auto s = batch.sum(0), q = batch.square().sum(0);
    sum = sum.defined() ? sum + s : s, squares = squares.defined() ? squares + q : q;
  }
  const auto mean = sum / count;
  const auto variance = (squares / count - mean.square()).clamp_min(0);
  return coarse_spread(variance.sqrt(), fmt::format("{} training images", count));
}

int write_training_sd(const ConfigOptions& options, const std::filesystem::path& file) {
  require_sd_file("--pixel-sd", file);
  const auto plan = load_train_plan(options);
  if (plan.reconstruction)
    input_error("{}: task.kind: expected denoising with --pixel-sd, found reconstruction, which makes no prior",
                options.path.string());
  write_sd_file(file, training_spread(read_training_images(plan, /*shown=*/true)));
  return success;
}

}  // namespace penumbra::app
