#include "run/chain_run.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <chrono>

#include "core/error.h"
#include "run/checkpoint.h"
#include "run/interrupt.h"

namespace penumbra {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

ChainRun::ChainRun(RunPlan plan, const Posterior& posterior, const Sampler& sampler, ChainState start,
                   std::filesystem::path checkpoint_folder)
    : plan_(plan),
      posterior_(posterior),
      sampler_(sampler),
      state_(std::move(start)),
      checkpoint_folder_(std::move(checkpoint_folder)),
      statistics_(plan.history_bytes) {}

Outcome ChainRun::run() {
  c10::NoGradGuard no_gradients;
  auto last_tick = Clock::now();
  double last_save = seconds_;
  while (state_.k < plan_.steps) {
    const auto info = step_all();
    seconds_ += seconds_since(last_tick);
    last_tick = Clock::now();
    if (diverged()) {
      trace_.add(trace_row(info));
      return Outcome::diverged;
    }
    if (plan_.records(state_.k)) statistics_.add(state_.x);
    if (plan_.traces(state_.k)) trace_.add(trace_row(info));
    after_step(*this);
    const bool stop = interrupted();
    const bool due = seconds_ - last_save >= plan_.checkpoint_every_s ||
                     (plan_.checkpoint_every_steps > 0 && state_.k % plan_.checkpoint_every_steps == 0);
    if (!checkpoint_folder_.empty() && (due || stop || state_.k == plan_.steps)) {
      save();
      last_save = seconds_;
    }
    if (stop && state_.k < plan_.steps) return Outcome::interrupted;
  }
  return Outcome::finished;
}

/// All chains take step k before any takes step k+1, whatever the batch, so that a checkpoint is one iteration.
StepInfo ChainRun::step_all() {
  const auto chains = state_.x.size(0);
  const auto batch = plan_.batch > 0 ? std::min(plan_.batch, chains) : chains;
  if (batch == chains) return sampler_.step(state_);
  std::vector<Tensor> x, grad_norm, score_norm;
  StepInfo info;
  for (int64_t first = 0; first < chains; first += batch) {
    ChainState part{state_.x.narrow(0, first, std::min(batch, chains - first)), state_.k, state_.first_chain + first};
    info = sampler_.step(part);
    x.push_back(part.x);
    grad_norm.push_back(info.grad_norm);
    score_norm.push_back(info.score_norm);
  }
  state_ = {at::cat(x), state_.k + 1, state_.first_chain};
  info.grad_norm = at::cat(grad_norm);
  info.score_norm = at::cat(score_norm);
  return info;
}

/// A NaN compares false with everything, so the question is asked the other way round.
bool ChainRun::diverged() const { return !(state_.x.abs().max().item<double>() <= plan_.divergence_limit); }

TraceRow ChainRun::trace_row(const StepInfo& info) const {
  constexpr double absent = std::numeric_limits<double>::quiet_NaN();
  TraceRow row;
  row.iteration = static_cast<double>(state_.k);
  row.sigma = info.sigma;
  row.alpha = info.alpha;
  row.step_size = info.step_size;
  double chi2 = 0, count = 0;
  for (const auto& misfit : posterior_.likelihood->misfit(state_.x)) {
    chi2 += misfit.chi2.mean().item<double>() * static_cast<double>(misfit.data_count);
    count += static_cast<double>(misfit.data_count);
  }
  row.chi2 = count > 0 ? chi2 / count : absent;
  row.gradient_norm = info.grad_norm.mean().item<double>();
  row.score_norm = info.score_norm.mean().item<double>();
  row.max_abs = state_.x.abs().max().item<double>();
  row.spread = state_.x.size(0) > 1 ? state_.x.std(0).mean().item<double>() : absent;
  row.seconds = seconds_;
  return row;
}

void ChainRun::save() {
  Checkpoint checkpoint{state_.k, seconds_, statistics_.state()};
  checkpoint.tensors["x"] = state_.x;
  checkpoint.tensors["trace"] = trace_.state();
  save_checkpoint(checkpoint_folder_, checkpoint);
}

bool ChainRun::resume() {
  auto checkpoint = load_checkpoint(checkpoint_folder_);
  if (!checkpoint) return false;
  const auto& x = checkpoint->tensors.at("x");
  if (x.sizes() != state_.x.sizes() || x.scalar_type() != state_.x.scalar_type())
    input_error("{}: the checkpoint holds {} images, the configuration asks for {}", checkpoint_folder_.string(),
                describe(x.sizes()), describe(state_.x.sizes()));
  state_.x = x.to(state_.x.device());
  state_.k = checkpoint->k;
  seconds_ = checkpoint->seconds;
  trace_.restore(checkpoint->tensors.at("trace"));
  checkpoint->tensors.erase("x");
  checkpoint->tensors.erase("trace");
  statistics_.restore(checkpoint->tensors);
  return true;
}

}  // namespace penumbra
