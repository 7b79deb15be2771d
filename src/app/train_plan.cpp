#include "app/train_plan.h"

#include "core/error.h"
#include "training/architecture_setting.h"

namespace penumbra::app {
namespace {

at::ScalarType compute_setting(Settings& section, const at::Device& device) {
  const auto word = section.choice("compute", {"auto", "float32", "bfloat16"}, "auto");
  if (word == "auto") return device.is_cuda() ? at::kBFloat16 : at::kFloat;
  return word == "bfloat16" ? at::kBFloat16 : at::kFloat;
}

at::ScalarType storage_setting(Settings& section) {
  const auto word = section.choice("storage", {"float16", "bfloat16", "float32"}, "float16");
  return word == "float16" ? at::kHalf : word == "bfloat16" ? at::kBFloat16 : at::kFloat;
}

void read_training(Settings section, TrainPlan& plan) {
  auto& trainer = plan.trainer;
  trainer.steps = section.integer("steps", {1, 1e9});
  trainer.batch = section.integer("batch", trainer.batch, {1, 1e6});
  trainer.accumulate = section.integer("accumulate", trainer.accumulate, {1, 1e6});
  trainer.adam = training::adam_setting(section);
  trainer.ema_decay = section.number("ema_decay", trainer.ema_decay, {0, 0.999999});
  trainer.compute = compute_setting(section, plan.device);
  plan.log_every = section.integer("log_every", plan.log_every, {1, 1e9});
  plan.validate_every = section.integer("validate_every", plan.validate_every, {1, 1e9});
  plan.validation_images = section.integer("validation_images", plan.validation_images, {1, 1e6});
  if (plan.reconstruction) {
    // It has no noise levels, and nothing to draw.
    plan.sample_every = 0;
  } else {
    plan.bands = section.integer("bands", plan.bands, {1, 100});
    plan.sample_every = section.integer("sample_every", plan.sample_every, not_negative);
    plan.samples = section.integer("samples", plan.samples, {1, 1024});
  }
  plan.checkpoint_every_s = section.number("checkpoint_every_s", plan.checkpoint_every_s, positive);
}

void read_parameterisation(Settings section, NetworkHeader& header) {
  using Kind = Parameterisation::Kind;
  auto& result = header.parameterisation;
  result.kind = section.choice("kind", {"karras", "score"}, "karras") == "karras" ? Kind::karras : Kind::score;
  // 0: the SD of the training pixels.
  if (result.kind == Kind::karras) result.sigma_data = section.number("sigma_data", 0, {0, largest_pixel / 2});
}

/// The sections of either task. A configuration of before there were tasks has none, and is resolved as it was then.
void read_task(Settings& settings, TrainPlan& plan) {
  auto& header = plan.header;
  header.image_shape = {plan.data.channels, plan.data.height, plan.data.width};
  if (settings.has("task"))
    plan.reconstruction = task_setting(settings.section("task"), header.image_shape, {at::kFloat, plan.device});
  if (plan.reconstruction) {
    header.architecture = training::varnet_setting(settings.section("network"), plan.data.channels);
    header.parameterisation.kind = Parameterisation::Kind::reconstruction;
    return;
  }
  plan.trainer.levels = training::noise_levels_setting(settings.section("sigma"));
  header.architecture = training::architecture_setting(settings.section("network"), plan.data.channels);
  read_parameterisation(settings.section("parameterisation"), header);
  header.sigma_low = plan.trainer.levels.low;
  header.sigma_high = plan.trainer.levels.high;
}

/// What people should know of the prior; copied to its header.
void read_output(Settings section, TrainPlan& plan) {
  plan.header.name = section.text("name", "prior");
  plan.storage = storage_setting(section);
  for (const auto* key : {"data", "licence", "notes"})
    if (section.has(key)) plan.header.record[key] = section.text(key);
}

}  // namespace

TrainPlan load_train_plan(const ConfigOptions& options) {
  auto settings = Settings::from_file(options.path);
  for (const auto& assignment : options.assignments) settings.assign(assignment);
  if (options.seed) settings.assign(fmt::format("seed={}", *options.seed));
  TrainPlan plan;
  plan.device = use_machine(options.machine);
  plan.trainer.seed = static_cast<uint64_t>(settings.integer("seed", 0, {0, 9007199254740992.0}));
  auto data = settings.section("data");
  if (data.has("blackholes"))
    plan.blackholes = blackhole_data_setting(data, plan.data);
  else
    plan.data = training::image_set_setting(data);
  plan.trainer.augment = training::augment_setting(settings.section("augment"), plan.data.low, plan.data.high);
  read_task(settings, plan);
  read_training(settings.section("training"), plan);
  read_output(settings.section("output"), plan);
  settings.finish();
  if (!plan.blackholes && !plan.data.validation_folder && plan.data.validation_share == 0)
    settings.fail("data.validation_share", "expected more than 0: training is judged by images that it has not seen");

  auto& header = plan.header;
  header.pixel_low = plan.data.low;
  header.pixel_high = plan.data.high;
  const auto factor = Architecture(header.architecture, "network").size_factor();
  if (plan.data.height % factor != 0 || plan.data.width % factor != 0)
    settings.fail("network.channel_mult", fmt::format("{} levels need images whose sides are multiples of {}, found {}",
                                                      header.architecture["channel_mult"].size(), factor,
                                                      penumbra::describe(header.image_shape)));
  plan.resolved = settings.resolved();
  return plan;
}

}  // namespace penumbra::app
