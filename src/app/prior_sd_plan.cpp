#include "app/prior_sd_plan.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/error.h"
#include "io/npy.h"

namespace penumbra::app {

PriorSdPlan prior_sd_setting(Settings& output, const Shape& image_shape) {
  using Source = PriorSdPlan::Source;
  // Not written where it is not given: a run from before there was such a key can still be continued.
  if (!output.has("prior_sd")) return {};
  const auto given = output.text("prior_sd");
  if (given == "stored") return {};
  if (given == "draws") return {.source = Source::draws, .name = {}, .sd = {}};
  if (given == "none") return {.source = Source::none, .name = {}, .sd = {}};
  const auto path = output.file("prior_sd");
  auto sd = io::read_npy(path);
  if (sd.dim() == 2 && image_shape[0] == 1) sd = sd.unsqueeze(0);
  if (sd.is_complex() || sd.sizes() != at::IntArrayRef(image_shape))
    input_error("{}: expected the SD of every pixel, real and of {} as the image, found {}", path.string(),
                describe(image_shape), describe(sd.sizes()));
  if (!sd.isfinite().logical_and(sd.ge(0)).all().item<bool>())
    input_error("{}: expected standard deviations, found a number that is negative or not finite", path.string());
  return {Source::file, path.filename().string(), sd.to(at::kDouble)};
}

}  // namespace penumbra::app
