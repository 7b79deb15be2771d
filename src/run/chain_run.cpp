#include "run/chain_run.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <chrono>
#include <limits>

#include "core/error.h"
#include "run/interrupt.h"

namespace penumbra {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double absent = std::numeric_limits<double>::quiet_NaN();

/// A GPU's numbers are looked at when so many steps are queued: looking waits for all of them.
constexpr int64_t steps_ahead = 16;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

ChainRun::ChainRun(RunPlan plan, const Posterior& posterior, const Sampler& sampler, ChainState start,
                   std::filesystem::path checkpoint_folder, Team team)
    : team_(std::move(team)),
      plan_(plan),
      own_(plan.share(team_.rank(), team_.size())),
      posterior_(posterior),
      sampler_(sampler),
      graph_step_(sampler),
      state_(std::move(start)),
      checkpoint_folder_(std::move(checkpoint_folder)),
      statistics_(own_.history_bytes) {}

Outcome ChainRun::run() {
  c10::NoGradGuard no_gradients;
  auto last_tick = Clock::now();
  double last_save = seconds_;
  while (state_.k < plan_.steps) {
    const auto info = step_all();
    seconds_ += seconds_since(last_tick);
    last_tick = Clock::now();
    const auto found = findings(last_save);
    seconds_ += seconds_since(last_tick);  // of steps that a GPU still had to do
    last_tick = Clock::now();
    if (found.diverged) {
      trace_.add(trace_row(info));
      return Outcome::diverged;
    }
    if (plan_.records(state_.k)) statistics_.add(images());
    if (plan_.traces(state_.k)) trace_.add(trace_row(info));
    after_step(*this);
    if (!checkpoint_folder_.empty() && (found.due || found.stop || state_.k == plan_.steps)) {
      save();
      last_save = seconds_;
    }
    if (found.stop && state_.k < plan_.steps) return Outcome::interrupted;
  }
  return Outcome::finished;
}

/// What any of the processes found after a step: all of them act on it, at the same step. A NaN compares false with
/// everything, so divergence is asked the other way round; a chain that diverged stays so until a GPU is asked.
ChainRun::Findings ChainRun::findings(double last_save) const {
  const bool due = seconds_ - last_save >= plan_.checkpoint_every_s ||
                   (plan_.checkpoint_every_steps > 0 && state_.k % plan_.checkpoint_every_steps == 0);
  const bool stop = interrupted();
  // Before a checkpoint, too: it must not replace a good one by numbers that have run away. Processes wait for one
  // another at each step anyway.
  const bool asked =
      due || stop || team_.size() > 1 || !state_.x.is_cuda() || state_.k % steps_ahead == 0 || state_.k == plan_.steps;
  const bool diverged = asked && !(state_.x.abs().max().item<double>() <= plan_.divergence_limit);
  auto flags = at::tensor({int64_t{diverged}, int64_t{stop}, int64_t{due && team_.leads()}}, at::kLong);
  team_.sum(flags);
  const auto* flag = flags.data_ptr<int64_t>();
  return {flag[0] > 0, flag[1] > 0, flag[2] > 0};
}

/// All chains take step k before any takes step k+1, whatever the batch, so that a checkpoint is one iteration.
StepInfo ChainRun::step_all() {
  const auto chains = state_.x.size(0);
  const auto batch = plan_.batch > 0 ? std::min(plan_.batch, chains) : chains;
  // What the chains share takes its step once.
  if (batch == chains || sampler_.shared_count(chains) > 0) {
    const auto info = graph_step_(state_);
    step_mode_ = graph_step_.how();
    return info;
  }
  if (state_.x.is_cuda()) step_mode_ = "the chains take their steps in parts (batch)";
  std::vector<Tensor> x, velocity, grad_norm, score_norm, acceptance;
  StepInfo info;
  for (int64_t first = 0; first < chains; first += batch) {
    const auto count = std::min(batch, chains - first);
    ChainState part{state_.x.narrow(0, first, count), state_.k, state_.first_chain + first};
    if (state_.velocity.defined()) part.velocity = state_.velocity.narrow(0, first, count);
    info = sampler_.step(part);
    x.push_back(part.x);
    if (part.velocity.defined()) velocity.push_back(part.velocity);
    grad_norm.push_back(info.grad_norm);
    score_norm.push_back(info.score_norm);
    if (info.acceptance.defined()) acceptance.push_back(info.acceptance);
  }
  state_ = {at::cat(x), state_.k + 1, state_.first_chain};
  if (!velocity.empty()) state_.velocity = at::cat(velocity);
  info.grad_norm = at::cat(grad_norm);
  info.score_norm = at::cat(score_norm);
  if (!acceptance.empty()) info.acceptance = at::cat(acceptance);
  return info;
}

Tensor ChainRun::images() const {
  const auto chains = state_.x.size(0);
  const auto batch = plan_.batch > 0 ? std::min(plan_.batch, chains) : chains;
  std::vector<Tensor> images;
  for (int64_t first = 0; first < chains; first += batch)
    images.push_back(sampler_.image(
        {state_.x.narrow(0, first, std::min(batch, chains - first)), state_.k, state_.first_chain + first}));
  return images.size() == 1 ? images.front() : at::cat(images);
}

TraceRow ChainRun::trace_row(const StepInfo& info) const {
  auto chi2 = at::zeros({state_.x.size(0)}, at::kDouble);
  double count = 0;
  for (const auto& misfit : posterior_.likelihood->misfit(state_.x)) {
    chi2 += misfit.chi2.to(at::kCPU, at::kDouble) * static_cast<double>(misfit.data_count);
    count += static_cast<double>(misfit.data_count);
  }
  const auto largest = flat(state_.x).abs().amax(1);
  std::vector<Tensor> columns{count > 0 ? chi2 / count : at::full_like(chi2, absent)};
  const auto accepted = info.acceptance.defined() ? info.acceptance : at::full_like(largest, absent);
  for (const auto& column : {info.grad_norm, info.score_norm, largest, accepted})
    columns.push_back(column.to(at::kCPU, at::kDouble));
  const auto per_chain = team_.gather(at::stack(columns, 1));
  TraceRow row;
  row.spread = spread();
  if (!team_.leads()) return row;
  row.iteration = static_cast<double>(state_.k);
  row.sigma = info.sigma;
  row.alpha = info.alpha;
  row.step_size = info.step_size;
  const auto mean = per_chain.mean(0);
  row.chi2 = mean[0].item<double>();
  row.gradient_norm = mean[1].item<double>();
  row.score_norm = mean[2].item<double>();
  row.max_abs = per_chain.select(1, 3).max().item<double>();
  row.objective = info.objective;
  row.acceptance = mean[4].item<double>();
  row.seconds = seconds_;
  return row;
}

/// In two passes, so that no process needs the chains of another.
double ChainRun::spread() const {
  if (plan_.chains < 2) return absent;
  auto mean = state_.x.sum({0}, false, at::kDouble);
  team_.sum(mean);
  mean /= static_cast<double>(plan_.chains);
  auto squares = (state_.x - mean.to(state_.x.scalar_type())).square().sum({0}, false, at::kDouble);
  team_.sum(squares);
  return (squares / static_cast<double>(plan_.chains - 1)).sqrt().mean().item<double>();
}

/// Of all processes, on rank 0: the same as that of one process.
Checkpoint ChainRun::checkpoint() const {
  Checkpoint checkpoint{state_.k, seconds_, statistics_.state(team_)};
  checkpoint.tensors["x"] = team_.gather(state_.x);
  if (state_.velocity.defined()) checkpoint.tensors["velocity"] = team_.gather(state_.velocity);
  checkpoint.tensors["trace"] = trace_.state();
  // The same in all processes.
  if (state_.shared.defined()) checkpoint.tensors["shared"] = state_.shared.to(at::kCPU);
  return checkpoint;
}

void ChainRun::save() {
  const auto whole = checkpoint();
  team_.lead([&] {
    save_checkpoint(checkpoint_folder_, whole);
    return 0;
  });
}

void ChainRun::adopt(const Checkpoint& checkpoint, const RunPlan& part) {
  const auto first = part.first_chain - plan_.first_chain;
  const auto own = [&](const Tensor& of_all) { return of_all.narrow(0, first, part.chains).to(state_.x.device()); };
  state_ = {own(checkpoint.tensors.at("x")), checkpoint.k, part.first_chain};
  if (const auto velocity = checkpoint.tensors.find("velocity"); velocity != checkpoint.tensors.end())
    state_.velocity = own(velocity->second);
  if (const auto shared = checkpoint.tensors.find("shared"); shared != checkpoint.tensors.end())
    state_.shared = shared->second.to(state_.x.device());
  seconds_ = checkpoint.seconds;
  trace_.restore(checkpoint.tensors.at("trace"));
  statistics_ = Statistics(part.history_bytes);
  statistics_.restore(checkpoint.tensors, first, part.chains);
}

void ChainRun::gather() {
  if (team_.size() == 1) return;
  const auto whole = checkpoint();
  if (team_.leads()) adopt(whole, plan_);
}

bool ChainRun::resume() {
  const auto checkpoint = load_checkpoint(checkpoint_folder_);
  if (!team_.agree(checkpoint ? checkpoint->k : -1))
    input_error("{}: the processes find different checkpoints; expected a folder that all of them share",
                checkpoint_folder_.string());
  if (!checkpoint) return false;
  const auto& x = checkpoint->tensors.at("x");
  auto expected = state_.x.sizes().vec();
  expected[0] = plan_.chains;
  if (x.sizes() != at::IntArrayRef(expected) || x.scalar_type() != state_.x.scalar_type())
    input_error("{}: the checkpoint holds {} images, the configuration asks for {}", checkpoint_folder_.string(),
                describe(x.sizes()), describe(expected));
  const auto velocity = checkpoint->tensors.find("velocity");
  const bool moving = velocity != checkpoint->tensors.end();
  if (moving != (sampler_.momentum() > 0) || (moving && velocity->second.sizes() != x.sizes()))
    input_error("{}: velocity: expected {}; the checkpoint is of another run", checkpoint_folder_.string(),
                sampler_.momentum() > 0 ? "as many numbers as x has" : "none, without momentum");
  const auto shared = checkpoint->tensors.find("shared");
  const auto found = shared == checkpoint->tensors.end() ? 0 : shared->second.numel();
  const auto wanted = sampler_.shared_count(plan_.chains);
  if (found != wanted)
    input_error("{}: shared: expected {} numbers that all chains share, found {}; the checkpoint is of another run",
                checkpoint_folder_.string(), wanted, found);
  adopt(*checkpoint, own_);
  return true;
}

}  // namespace penumbra
