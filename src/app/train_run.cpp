#include "app/train_run.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <chrono>

#include "app/command.h"
#include "app/generation.h"
#include "app/progress.h"
#include "app/train_log.h"
#include "app/train_plan.h"
#include "core/error.h"
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

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// One training run in its folder. Only the leading process writes.
class TrainRun {
 public:
  TrainRun(TrainPlan plan, fs::path folder, const Team& team)
      : plan_(std::move(plan)), folder_(std::move(folder)), team_(team), images_(read_images()) {
    auto& parameterisation = plan_.header.parameterisation;
    if (parameterisation.kind == Parameterisation::Kind::karras && parameterisation.sigma_data == 0)
      parameterisation.sigma_data = measure_spread();
    images_.move_to(plan_.device);
    trainer_ = std::make_unique<Trainer>(plan_.trainer, plan_.header, images_, team_, plan_.device);
  }

  /// Throws InputError where the folder holds another run, or the images have changed.
  void claim(bool resume);
  int run();

 private:
  training::ImageSet read_images();
  double measure_spread() const;
  void train();
  void log(const std::vector<Trainer::Step>& steps);
  void validate();
  void draw_samples();
  void save();
  std::map<std::string, Tensor> stored_weights() const;
  NetworkHeader recorded_header() const;
  void write_results();
  json summary() const;
  double seconds() const { return earlier_seconds_ + seconds_since(start_); }
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
  bool diverged_ = false;
};

training::ImageSet TrainRun::read_images() {
  Progress progress;
  auto images = training::read_images(plan_.data, [&](int64_t done, int64_t total) {
    if (team_.leads()) progress.show(done, total, "  reading images");
  });
  if (images.validation.size(0) == 0)
    input_error("data: no image is held out for validation; expected validation_folder or a larger validation_share");
  return images;
}

double TrainRun::measure_spread() const {
  const auto count = std::min<int64_t>(images_.train.size(0), 2048);
  const auto sample = images_.batch(at::arange(count), {at::kFloat, at::kCPU});
  return std::max(1e-3, sample.to(at::kDouble).std().item<double>());
}

void TrainRun::claim(bool resume) {
  const auto config = folder_ / "config.yaml";
  const json identity{{"images", images_.fingerprint}, {"device", plan_.device.str()}};
  if (!fs::exists(config)) {
    io::write_file(folder_ / "provenance.json", identity.dump(2) + "\n");
    io::write_file(config, plan_.resolved);
    return;
  }
  if (!resume)
    input_error("{}: already holds a run; expected an empty folder (--resume continues a run)", folder_.string());
  if (io::read_file(config) != plan_.resolved) input_error("{}: is a run of another configuration", config.string());
  const auto then = json::parse(io::read_file(folder_ / "provenance.json"), nullptr, false);
  if (then != identity)
    input_error("{}: the images or the device are not those with which the run was begun",
                (folder_ / "provenance.json").string());
}

int TrainRun::run() {
  if (auto checkpoint = load_checkpoint(folder_ / "checkpoint")) {
    trainer_->restore(checkpoint->tensors, checkpoint->k);
    log_.restore(checkpoint->tensors);
    earlier_seconds_ = checkpoint->seconds;
    if (team_.leads()) fmt::print(stderr, "continuing after step {} of {}\n", trainer_->k(), plan_.trainer.steps);
  }
  start_ = Clock::now();
  logged_seconds_ = seconds();
  train();
  if (diverged_) {
    fmt::print(stderr,
               "penumbra: the training diverged at step {}: the loss is no number; try a smaller learning_rate\n",
               trainer_->k());
    return diverged;
  }
  if (trainer_->k() < plan_.trainer.steps) {
    if (team_.leads())
      fmt::print(stderr, "penumbra: interrupted after step {} of {}; the state is saved, continue with --resume\n",
                 trainer_->k(), plan_.trainer.steps);
    return interrupted;
  }
  if (team_.leads()) write_results();
  team_.wait();
  return success;
}

void TrainRun::train() {
  listen_for_interrupts();
  Progress progress;
  std::vector<Trainer::Step> pending;
  double saved = seconds();
  if (trainer_->k() == 0 && team_.leads()) validate();
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
                      : fmt::format("  loss {:.4f}  {:.0f} images/s", last_loss_, log_.history().back().back()));
    if (k % plan_.validate_every == 0 || last) validate();
    if (plan_.sample_every > 0 && (k % plan_.sample_every == 0 || last)) draw_samples();
    if (seconds() - saved >= plan_.checkpoint_every_s || stop || last) {
      save();
      saved = seconds();
    }
    if (stop) return;
  }
}

/// Reading the numbers waits for the device: once in a while, for all steps since.
void TrainRun::log(const std::vector<Trainer::Step>& steps) {
  std::vector<Tensor> losses, norms;
  for (const auto& step : steps) {
    losses.push_back(step.loss);
    norms.push_back(step.gradient_norm);
  }
  last_loss_ = at::stack(losses).mean().item<double>();
  const double norm = at::stack(norms).mean().item<double>();
  diverged_ = !std::isfinite(last_loss_);
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
  logged_seconds_ = seconds();
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
  how.sigma_max = std::min(80.0, header.sigma_high);
  how.sigma_min = std::max(0.002, header.sigma_low);
  const auto drawn = generate_images(prior, how, {at::kFloat, plan_.device});
  const auto folder = folder_ / "samples";
  fs::create_directories(folder);
  io::write_png(folder / fmt::format("step-{:08}.png", trainer_->k()),
                io::to_bytes(io::image_grid(drawn.images), header.pixel_low, header.pixel_high));
  logged_seconds_ = seconds();
}

void TrainRun::save() {
  Checkpoint checkpoint{trainer_->k(), seconds(), trainer_->state()};
  checkpoint.tensors.merge(log_.state());
  save_checkpoint(folder_ / "checkpoint", checkpoint);
  log_.write(folder_);
  logged_seconds_ = seconds();
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

json TrainRun::summary() const {
  const auto header = recorded_header();
  return {{"program", {{"name", "penumbra"}, {"version", PENUMBRA_VERSION}, {"libtorch", TORCH_VERSION}}},
          {"outcome", "finished"},
          {"device", plan_.device.str()},
          {"parameters", parameter_count(Architecture(header.architecture, "network").parameters())},
          {"architecture", header.architecture},
          {"parameterisation", header.parameterisation.to_json()},
          {"data",
           {{"folder", plan_.data.folder.string()},
            {"train", images_.train.size(0)},
            {"validation", images_.validation.size(0)}}},
          {"steps", trainer_->k()},
          {"images_seen", images_seen()},
          {"seconds", seconds()},
          {"seed", plan_.trainer.seed},
          {"validation", log_.bands()}};
}

void TrainRun::write_results() {
  io::write_safetensors(folder_ / "prior.safetensors", stored_weights(), recorded_header().to_json());
  io::write_file(folder_ / "summary.json", summary().dump(2) + "\n");
  report::write_training_report(folder_);
  fs::remove_all(folder_ / "checkpoint");
  fmt::print("{}: {} steps, {} images, {}\n", (folder_ / "prior.safetensors").string(), trainer_->k(), images_seen(),
             clock_time(seconds()));
  for (const auto& band : log_.bands())
    fmt::print("  sigma {:>8.4g} to {:>8.4g}: loss {:.4f} (raw {:.4f}, at the start {:.4f}), PSNR {:.2f} dB\n",
               band["sigma"][0].get<double>(), band["sigma"][1].get<double>(), band["loss"].get<double>(),
               band.value("loss_raw", 0.0), band.value("loss_at_start", 0.0), band["psnr"].get<double>());
  fmt::print("report: {}\n", fs::absolute(folder_ / "report.html").lexically_normal().string());
}

}  // namespace

int train_run(const ConfigOptions& options, const fs::path& folder, bool resume) {
  auto plan = load_train_plan(options);
  const auto team = Team::from_environment(plan.device);
  std::optional<io::FolderLock> lock;
  if (team.leads()) {
    // Checkpoints hold four copies of the parameters, and the old one stays until the new one stands.
    const auto parameters = parameter_count(Architecture(plan.header.architecture, "network").parameters());
    io::require_writable(folder, static_cast<uint64_t>(parameters) * 4 * 9 + (uint64_t{64} << 20));
    lock.emplace(folder);
  }
  if (fs::exists(folder / "summary.json") && !fs::exists(folder / "checkpoint") && resume) {
    if (team.leads()) fmt::print("{}: this training is complete\n", folder.string());
    return success;
  }
  TrainRun run(std::move(plan), folder, team);
  team.lead([&] {
    run.claim(resume);
    return 0;
  });
  return run.run();
}

}  // namespace penumbra::app
