#include "app/train_run.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <chrono>

#include "app/command.h"
#include "app/generation.h"
#include "app/progress.h"
#include "app/same_configuration.h"
#include "app/train_log.h"
#include "app/train_plan.h"
#include "app/training_images.h"
#include "core/error.h"
#include "io/checksum.h"
#include "io/file.h"
#include "io/image.h"
#include "io/image_grid.h"
#include "io/lock.h"
#include "io/weights.h"
#include "priors/network.h"
#include "report/training_report.h"
#include "run/checkpoint.h"
#include "run/interrupt.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using training::Trainer;
using Clock = std::chrono::steady_clock;

/// Throws InputError in all processes where one read something else: `what` of `path`.
void require_agreement(const Team& team, const std::string& content, const std::string& what, const fs::path& path) {
  if (!team.agree(static_cast<int64_t>(io::checksum(content))))
    input_error("{}: the processes read different {}; expected the same for all", path.string(), what);
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// One training run in its folder. Only the leading process writes.
class TrainRun {
 public:
  /// Reads the images.
  TrainRun(TrainPlan plan, fs::path folder, const Team& team)
      : plan_(std::move(plan)),
        folder_(std::move(folder)),
        team_(team),
        images_(read_training_images(plan_, team_.leads())) {
    require_agreement(team_, images_.fingerprint, "images", plan_.source());
    auto& parameterisation = plan_.header.parameterisation;
    if (parameterisation.kind == Parameterisation::Kind::karras && parameterisation.sigma_data == 0)
      parameterisation.sigma_data = pixel_spread(images_);
    if (!plan_.reconstruction) plan_.header.pixel_sd = training_spread(images_);
    if (plan_.reconstruction)
      plan_.trainer.task = make_task(*plan_.reconstruction, images_, {at::kFloat, plan_.device}, plan_.header.record);
    images_.move_to(plan_.device);
    trainer_ = std::make_unique<Trainer>(plan_.trainer, plan_.header, images_, team_, plan_.device);
  }

  /// Throws InputError where the run was begun with other images or another device.
  void claim() const;
  int run();

 private:
  void train();
  void log(const std::vector<Trainer::Step>& steps);
  void validate();
  void try_to_draw();
  void draw_samples();
  void save();
  void write_prior() const;
  std::map<std::string, Tensor> stored_weights() const;
  NetworkHeader recorded_header() const;
  void write_results();
  void write_divergence();
  json summary(const std::string& outcome, const std::string& verdict) const;
  double seconds() const { return earlier_seconds_ + seconds_since(start_); }
  /// A network that reconstructs is no prior.
  const char* weights_name() const { return plan_.reconstruction ? "network.safetensors" : "prior.safetensors"; }
  int64_t images_seen() const { return trainer_->k() * plan_.trainer.batch; }

  TrainPlan plan_;
  fs::path folder_;
  const Team& team_;
  training::ImageSet images_;
  std::unique_ptr<Trainer> trainer_;
  TrainLog log_;
  Clock::time_point start_ = Clock::now();
  double earlier_seconds_ = 0;
  double logged_seconds_ = 0;
  double last_loss_ = 0;
  int64_t bad_steps_ = 0;  ///< the latest ones, in a row, whose loss is no number
  bool diverged_ = false;
};

/// The configuration is written last: a folder with one has all that it needs.
void TrainRun::claim() const {
  // Not the number of the GPU: any of them may go on.
  const json identity{{"images", images_.fingerprint}, {"device", plan_.device.is_cuda() ? "cuda" : "cpu"}};
  const auto provenance = folder_ / "provenance.json", config = folder_ / "config.yaml";
  if (!fs::exists(config)) {
    io::write_file(provenance, identity.dump(2) + "\n");
    io::write_file(config, plan_.resolved);
    return;
  }
  const auto then = json::parse(io::read_file(provenance), nullptr, false);
  for (const auto& [key, value] : identity.items())
    if (!then.is_object() || then.value(key, json()) != value)
      input_error("{}: {}: the run was begun with {}, found {}", provenance.string(), key,
                  then.is_object() ? then.value(key, json()).dump() : "something else", value.dump());
}

int TrainRun::run() {
  const auto checkpoint = load_checkpoint(folder_ / "checkpoint");
  // Before anything is restored: weights that differ between processes would be averaged without a word.
  if (!team_.agree(checkpoint ? checkpoint->k : -1))
    input_error("{}: the processes find different checkpoints; expected a folder that all of them share",
                (folder_ / "checkpoint").string());
  if (checkpoint) {
    trainer_->restore(checkpoint->tensors, checkpoint->k);
    log_.restore(checkpoint->tensors);
    earlier_seconds_ = checkpoint->seconds;
    if (team_.leads()) fmt::print(stderr, "continuing after step {} of {}\n", trainer_->k(), plan_.trainer.steps);
  }
  // All have read the checkpoint before the first writes or removes one.
  team_.wait();
  // Of an attempt that diverged: the report would quote it.
  if (team_.leads()) fs::remove(folder_ / "summary.json");
  start_ = Clock::now();
  logged_seconds_ = seconds();
  train();
  const auto k = trainer_->k();
  return static_cast<int>(team_.lead([&]() -> int64_t {
    if (diverged_) {
      write_divergence();
      return diverged;
    }
    if (k < plan_.trainer.steps) {
      fmt::print(stderr, "penumbra: interrupted after step {} of {}; the state {}, continue with --resume\n", k,
                 plan_.trainer.steps,
                 bad_steps_ == 0 ? "is saved" : "before the loss became no number is the last one saved");
      return interrupted;
    }
    write_results();
    return success;
  }));
}

void TrainRun::train() {
  listen_for_interrupts();
  Progress progress;
  std::vector<Trainer::Step> pending;
  double saved = seconds();
  // What is not training does not count in images per second; the device's queue of training steps does.
  const auto aside = [&](void (TrainRun::*work)()) {
    if (!pending.empty()) pending.back().loss.item<double>();
    const double begun = seconds();
    (this->*work)();
    logged_seconds_ += seconds() - begun;
  };
  if (trainer_->k() == 0 && team_.leads()) aside(&TrainRun::validate);
  while (trainer_->k() < plan_.trainer.steps) {
    pending.push_back(trainer_->step());
    const auto k = trainer_->k();
    const bool last = k == plan_.trainer.steps;
    const bool stop = team_.any(penumbra::interrupted());
    if (k % plan_.log_every == 0 || last || stop) {
      log(pending);
      pending.clear();
      if (diverged_) return;
    }
    if (!team_.leads()) {
      if (stop) return;
      continue;
    }
    progress.show(k, plan_.trainer.steps,
                  log_.history().empty()
                      ? ""
                      : fmt::format("  loss {:.4g}  {:.0f} images/s", last_loss_, log_.history().back().back()));
    if (k % plan_.validate_every == 0 || last) aside(&TrainRun::validate);
    // A state is saved only after a good step, so a resumed run counts bad ones in a row as this one would.
    const auto is_good = [&] {
      return pending.empty() ? bad_steps_ == 0 : std::isfinite(pending.back().loss.item<double>());
    };
    if ((seconds() - saved >= plan_.checkpoint_every_s || stop || last) && is_good()) {
      aside(&TrainRun::save);
      saved = seconds();
    }
    // After the state is safe: drawing can fail where training did not.
    if (plan_.sample_every > 0 && (k % plan_.sample_every == 0 || last)) aside(&TrainRun::try_to_draw);
    if (stop) return;
  }
}

double mean_of_finite(const Tensor& values) { return values.masked_select(values.isfinite()).mean().item<double>(); }

/// Reading the numbers waits for the device: once in a while, for all steps since.
void TrainRun::log(const std::vector<Trainer::Step>& steps) {
  std::vector<Tensor> losses, norms;
  for (const auto& step : steps) {
    losses.push_back(step.loss);
    norms.push_back(step.gradient_norm);
  }
  const auto values = at::stack(losses).to(at::kCPU, at::kDouble);
  const auto good = values.isfinite();
  for (int64_t i = 0; i < good.size(0); ++i) bad_steps_ = good[i].item<bool>() ? 0 : bad_steps_ + 1;
  // The optimiser passes over single bad steps, but a run must not end with them.
  diverged_ = bad_steps_ >= 20 || (bad_steps_ > 0 && trainer_->k() == plan_.trainer.steps);
  last_loss_ = mean_of_finite(values);
  const double norm = mean_of_finite(at::stack(norms).to(at::kCPU, at::kDouble));
  const double now = seconds();
  const double rate = static_cast<double>(steps.size()) * static_cast<double>(plan_.trainer.batch) /
                      std::max(now - logged_seconds_, 1e-9);
  logged_seconds_ = now;
  log_.add({trainer_->k(), images_seen(), now, last_loss_, trainer_->learning_rate(), norm, rate});
}

void TrainRun::validate() {
  for (const auto which : {Trainer::Which::raw, Trainer::Which::ema})
    log_.add(trainer_->k(), which, trainer_->validate(which, plan_.bands, plan_.validation_images));
  log_.write(folder_);
}

/// A picture is not worth a run.
void TrainRun::try_to_draw() {
  try {
    draw_samples();
  } catch (const std::exception& error) {
    const std::string message = error.what();
    fmt::print(stderr, "penumbra: warning: no picture of samples after step {}: {}\n", trainer_->k(),
               message.substr(0, message.find('\n')));
  }
}

void TrainRun::draw_samples() {
  const auto& header = plan_.header;
  auto network =
      bind_network(header, trainer_->weights(Trainer::Which::ema),
                   plan_.trainer.compute == at::kFloat ? Compute::float32 : Compute::bfloat16, plan_.device, "network");
  const auto prior =
      std::make_shared<NetworkScore>(LoadedNetwork{header, network, 0, ""}, header.pixel_low, header.pixel_high);
  Generation how;
  how.count = how.batch = plan_.samples;
  how.seed = plan_.trainer.seed;
  // The usual ends as far as the network knows them.
  how.sigma_max = header.sigma_low < 80 ? std::min(80.0, header.sigma_high) : header.sigma_high;
  how.sigma_min = header.sigma_high > 0.002 ? std::max(0.002, header.sigma_low) : header.sigma_low;
  const auto drawn = generate_images(prior, how, {at::kFloat, plan_.device});
  if (drawn.diverged) return;
  const auto folder = folder_ / "samples";
  fs::create_directories(folder);
  io::write_png(folder / fmt::format("step-{:08}.png", trainer_->k()),
                io::to_bytes(io::image_grid(drawn.images), header.pixel_low, header.pixel_high));
}

/// A run that is interrupted leaves a prior and a report too.
void TrainRun::save() {
  Checkpoint checkpoint{trainer_->k(), seconds(), trainer_->state()};
  checkpoint.tensors.merge(log_.state());
  save_checkpoint(folder_ / "checkpoint", checkpoint);
  log_.write(folder_);
  write_prior();
  report::write_training_report(folder_);
}

void TrainRun::write_prior() const {
  io::write_safetensors(folder_ / weights_name(), stored_weights(), recorded_header().to_json());
}

std::map<std::string, Tensor> TrainRun::stored_weights() const {
  auto weights = trainer_->weights(Trainer::Which::ema);
  for (auto& [name, tensor] : weights) tensor = tensor.to(at::kCPU, plan_.storage);
  return weights;
}

NetworkHeader TrainRun::recorded_header() const {
  auto header = plan_.header;
  header.record["training"] = {{"program", PENUMBRA_VERSION},
                               {"device", plan_.device.str()},
                               {"steps", trainer_->k()},
                               {"batch", plan_.trainer.batch},
                               {"images_seen", images_seen()},
                               {"seconds", std::round(seconds())},
                               {"processes", team_.size()},
                               {"seed", plan_.trainer.seed},
                               {"training_images", images_.train.size(0)},
                               {"validation_images", images_.validation.size(0)},
                               {"images_fingerprint", images_.fingerprint},
                               {"validation", log_.bands()}};
  return header;
}

json TrainRun::summary(const std::string& outcome, const std::string& verdict) const {
  const auto header = recorded_header();
  return {{"program", {{"name", "penumbra"}, {"version", PENUMBRA_VERSION}, {"libtorch", TORCH_VERSION}}},
          {"outcome", outcome},
          {"verdict", verdict},
          {"device", plan_.device.str()},
          {"parameters", parameter_count(Architecture(header.architecture, "network").parameters())},
          {"architecture", header.architecture},
          {"parameterisation", header.parameterisation.to_json()},
          {"data",
           {{"folder", plan_.source()}, {"train", images_.train.size(0)}, {"validation", images_.validation.size(0)}}},
          {"steps", trainer_->k()},
          {"images_seen", images_seen()},
          {"seconds", seconds()},
          {"seed", plan_.trainer.seed},
          {"validation", log_.bands()}};
}

void TrainRun::write_results() {
  log_.write(folder_);
  write_prior();
  io::write_file(folder_ / "summary.json", summary("finished", log_.verdict()).dump(2) + "\n");
  report::write_training_report(folder_);
  // The checkpoint goes last: until then a killed run can still be finished from it.
  drop_checkpoint(folder_ / "checkpoint");
  fmt::print("{}: {} steps, {} images, {}\n", (folder_ / weights_name()).string(), trainer_->k(), images_seen(),
             clock_time(seconds()));
  fmt::print("{}", log_.lines());
  fmt::print("report: {}\n", fs::absolute(folder_ / "report.html").lexically_normal().string());
}

void TrainRun::write_divergence() {
  const auto verdict = fmt::format(
      "The training diverged before step {}: the loss is no number. Try a smaller learning_rate.", trainer_->k());
  log_.write(folder_);
  io::write_file(folder_ / "summary.json", summary("diverged", verdict).dump(2) + "\n");
  report::write_training_report(folder_);
  fmt::print(stderr, "penumbra: {}\n", verdict);
}

/// Whether there is nothing left to do. Throws InputError where the folder holds another run.
bool complete(const fs::path& folder, const TrainPlan& plan, bool resume) {
  const auto config = folder / "config.yaml";
  if (!fs::exists(config)) return false;
  if (!resume)
    input_error("{}: already holds a run; expected an empty folder (--resume continues a run)", folder.string());
  require_same_configuration(config, plan.resolved);
  if (!fs::exists(folder / "summary.json") || fs::exists(folder / "checkpoint")) return false;
  const auto summary = json::parse(io::read_file(folder / "summary.json"), nullptr, false);
  return summary.is_object() && summary.value("outcome", json()) == json("finished");
}

/// Four copies of the parameters make a checkpoint, and the old one stays until the new one stands; so does the prior.
uint64_t bytes_needed(const TrainPlan& plan) {
  const auto parameters = parameter_count(Architecture(plan.header.architecture, "network").parameters());
  return static_cast<uint64_t>(parameters) * 4 * (2 * 4 + 2) + (uint64_t{64} << 20);
}

}  // namespace

int train_run(const ConfigOptions& options, const fs::path& folder, bool resume) {
  auto plan = load_train_plan(options);
  const auto team = Team::from_environment(plan.device);
  require_agreement(team, plan.resolved, "configurations", options.path);
  const auto parts = team.size() * plan.trainer.accumulate;
  if (plan.trainer.batch < parts)
    input_error("{}: training.batch: expected at least one image for each of {} (processes x accumulate), found {}",
                options.path.string(), parts, plan.trainer.batch);
  std::optional<io::FolderLock> lock;
  // An error of the first process, which alone writes, ends all.
  const bool done = team.lead([&] {
    io::require_writable(folder, bytes_needed(plan));
    lock.emplace(folder);
    return complete(folder, plan, resume);
  });
  if (done) {
    if (team.leads()) fmt::print("{}: this training is complete\n", folder.string());
    return success;
  }
  TrainRun run(std::move(plan), folder, team);
  team.lead([&] {
    run.claim();
    return 0;
  });
  return run.run();
}

}  // namespace penumbra::app
