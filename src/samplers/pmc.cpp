#include "samplers/pmc.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "samplers/langevin.h"
#include "samplers/resampling.h"

namespace penumbra {
namespace {

constexpr int64_t steps_a_selection = 5;  // a look at the weights costs an evaluation of the network

}  // namespace

Pmc::Pmc(Posterior posterior, uint64_t seed, Options options)
    : CapturableSampler(std::move(posterior), seed), options_(options) {}

StepNumbers Pmc::numbers(int64_t k) const {
  return {options_.sigma, 1, options_.gamma, std::sqrt(2 * options_.gamma), k};
}

/// Algorithm 1. PnP takes the score after the gradient step, RED before it.
Moved Pmc::move(const Tensor& x, const StepScalars& numbers, const Cursor& at) const {
  const bool pnp = options_.discretization == Discretization::pnp;
  const auto grad_g = posterior().likelihood->grad(x);
  const auto S = score(pnp ? x - numbers.gamma * grad_g : x, numbers, at);
  return {langevin_update(x, grad_g, S, numbers, at), norm_per_chain(grad_g), norm_per_chain(S)};
}

AnnealedPmc::AnnealedPmc(Posterior posterior, uint64_t seed, Options options)
    : CapturableSampler(std::move(posterior), seed),
      options_(std::move(options)),
      settled_(options_.schedule->at(std::numeric_limits<int64_t>::max())) {}

bool AnnealedPmc::is_the_papers() const {
  return !options_.warm && !options_.denoised && !options_.added_noise && !options_.denoise_records &&
         options_.resample == 0 && options_.momentum == 0 && options_.pull == std::numeric_limits<double>::infinity();
}

/// A step moves x by gamma_k alpha_k / sigma_k^2 of the denoiser's correction D(x) - x. What is stable for the data may
/// be too long for the prior once sigma is small; only then is the step cut.
double AnnealedPmc::step_size(int64_t k) const {
  const auto [sigma_k, alpha_k] = annealing(k);
  return std::min(options_.gamma, options_.pull * sigma_k * sigma_k / alpha_k);
}

bool AnnealedPmc::settled(int64_t k) const {
  const auto [sigma_k, alpha_k] = annealing(k);
  return sigma_k == settled_.sigma && alpha_k == settled_.alpha;
}

StepNumbers AnnealedPmc::numbers(int64_t k) const {
  const auto [sigma_k, alpha_k] = annealing(k);
  const double gamma = step_size(k);
  return {sigma_k, alpha_k, gamma, std::sqrt(2 * gamma * temperature(alpha_k) * (1 - options_.momentum)), k};
}

/// Langevin dynamics with inertia: a step repeats the share mu of the last one, and as mu adds up to steps of 1/(1 -
/// mu) times the length in directions that agree for long, the noise has the share 1 - mu of its variance. The velocity
/// is in units of the step's noise, sqrt(gamma T), so that it cools as the levels do.
void AnnealedPmc::carry(const Tensor& x, const StepNumbers& numbers, ChainState& state) const {
  if (momentum() == 0) return;
  const double unit = std::sqrt(numbers.gamma * temperature(numbers.alpha));
  if (state.velocity.defined()) state.x = state.x + options_.momentum * unit * state.velocity;
  state.velocity = (state.x - x) / unit;
}

std::optional<std::string> AnnealedPmc::obstacle(int64_t k) const {
  if (couples_chains() && !settled(k)) return "the chains are weighed and resampled (resample)";
  return CapturableSampler::obstacle(k);
}

/// PnP takes the score after the gradient step, RED before it. While the prior is smoothed, x is an image with noise of
/// sigma_k, and data compared with it say no more than that noise lets through. Compared with the denoised image
/// D(x) = x + sigma_k^2 S(x) they say all: for a Gaussian prior D(x) then settles at the mean of the posterior whose
/// data have variance alpha_k beta^2, whatever sigma_k. There the score must come first, for PnP too. By the chain rule
/// the data's pull goes through D and loses what no image of the prior has: fewer steps do the same.
AnnealedPmc::Drift AnnealedPmc::drift(const Tensor& x, const StepScalars& numbers, const Cursor& at) const {
  // Steps are recorded only while this does not change.
  const bool is_settled = settled(at.k);
  const auto variance = numbers.sigma * numbers.sigma;
  if (keeps_layers() && !is_settled) {
    const auto& prior = *posterior().prior;
    const auto [denoised, vjp] =
        numbers.known ? prior.denoise_vjp(x, numbers.known->sigma, at) : prior.denoise_vjp_held(x, numbers.sigma);
    return {vjp(data_pull(denoised, numbers)), (denoised - x) / variance};
  }
  if (options_.denoised && !is_settled) {
    const auto S = score(x, numbers, at);
    return {data_pull(x + variance * S, numbers), S};
  }
  const auto grad_g = data_pull(x, numbers);
  const bool pnp = options_.discretization == Discretization::pnp;
  return {grad_g, score(pnp ? x - numbers.gamma * grad_g : x, numbers, at)};
}

/// alpha grad g_alpha, where g_alpha is what the data say at this level: g / alpha, or g with more noise.
Tensor AnnealedPmc::data_pull(const Tensor& x, const StepScalars& numbers) const {
  const auto& g = posterior().likelihood;
  const auto noisier = options_.added_noise ? g->noisier(numbers.alpha) : nullptr;
  return noisier ? numbers.alpha * noisier->grad(x) : g->grad(x);
}

/// Algorithm 2. Its drift gamma (-grad g + alpha_k S) is a step of length gamma alpha_k for the posterior in which g is
/// divided by alpha_k; the paper's noise belongs to a temperature of 1 / alpha_k there, and draws the chains together
/// into one optimum. The warm noise is that posterior's own, so that each level is sampled and not descended; both end
/// with alpha_k = 1 in the same law.
Moved AnnealedPmc::move(const Tensor& x, const StepScalars& numbers, const Cursor& at) const {
  const auto [grad_g, S] = drift(x, numbers, at);
  return {langevin_update(x, grad_g, S, numbers, at), norm_per_chain(grad_g), norm_per_chain(S)};
}

StepInfo AnnealedPmc::step(ChainState& state) const {
  if (couples_chains()) {
    if (!state.shared.defined()) state.shared = at::zeros({state.x.size(0)}, state.x.options().dtype(at::kDouble));
    if (!settled(state.k) && state.k % steps_a_selection == 0) select(state);
  }
  return CapturableSampler::step(state);
}

Tensor AnnealedPmc::energy(const Tensor& x, double alpha) const {
  const auto& g = posterior().likelihood;
  if (!options_.added_noise) return g->value(x) / alpha;
  const auto noisier = g->noisier(at::scalar_tensor(alpha, at::kDouble));
  return noisier ? noisier->value(x) : g->value(x);
}

/// A chain that the last levels left in an optimum which the next ones find too high cannot leave it any more: sampled
/// chain by chain, modes are as likely as the chains that fell into them. As in population annealing (Hukushima and
/// Iba 2003) a chain's weight grows by what the data say more at the levels ahead, exp(g_now - g_next), and where too
/// few chains count they are resampled by their weights. What the prior's smoothing changes is left to the moves.
void AnnealedPmc::select(ChainState& state) const {
  const auto [sigma, alpha] = annealing(state.k);
  const auto ahead = state.k + steps_a_selection;
  const auto image =
      options_.denoised ? posterior().prior->denoise(state.x, sigma, {seed(), state.first_chain, state.k}) : state.x;
  auto log_weight = (energy(image, alpha) - energy(image, annealing(ahead).alpha)).to(at::kCPU, at::kDouble);
  log_weight += state.shared.to(at::kCPU);
  const double enough = options_.resample * static_cast<double>(state.x.size(0));
  // From where the schedule has settled on, they are unweighted draws.
  if (settled(ahead) || effective_count(log_weight) < enough) {
    const auto chosen = systematic_resampling(log_weight, {seed(), 0, state.k});
    const auto resampled = [&](Tensor& of_chains) {
      if (of_chains.defined()) of_chains = of_chains.index_select(0, chosen.to(of_chains.device()));
    };
    resampled(state.x);
    resampled(state.velocity);
    log_weight = at::zeros_like(log_weight);
  }
  state.shared = log_weight.to(state.x.device());
}

Tensor AnnealedPmc::image(const ChainState& state) const {
  if (!options_.denoise_records) return state.x;
  return posterior().prior->denoise(state.x, annealing(state.k).sigma, {seed(), state.first_chain, state.k});
}

namespace {

template <Discretization discretization>
std::unique_ptr<Sampler> make_pmc(Settings& settings, const SamplerContext& context) {
  Pmc::Options options{.discretization = discretization};
  options.sigma = settings.number("sigma", not_negative);
  options.gamma = settings.number("step_size", positive);
  return std::make_unique<Pmc>(context.posterior, context.seed, options);
}

template <Discretization discretization>
std::unique_ptr<Sampler> make_apmc(Settings& settings, const SamplerContext& context) {
  AnnealedPmc::Options options{.discretization = discretization, .schedule = nullptr, .steps = context.steps};
  options.schedule = make_schedule(settings.section("schedule"), context.steps);
  options.gamma = settings.number("step_size", positive);
  if (settings.has("pull")) options.pull = settings.number("pull", positive);
  options.denoised = settings.choice("likelihood_at", {"iterate", "denoised"}, "iterate") == "denoised";
  options.added_noise = settings.choice("tempering", {"scaled", "added"}, "scaled") == "added";
  options.chain_rule = settings.flag("chain_rule", false);
  options.denoise_records = settings.choice("records", {"iterate", "denoised"}, "iterate") == "denoised";
  options.warm = settings.choice("noise", {"paper", "warm"}, "paper") == "warm";
  if (settings.has("resample")) options.resample = settings.number("resample", {0, 1});
  if (settings.has("momentum")) options.momentum = settings.number("momentum", shares_of_a_step);
  return std::make_unique<AnnealedPmc>(context.posterior, context.seed, options);
}

}  // namespace

extern const SamplerEntry pmc_pnp{.name = "pmc-pnp",
                                  .summary = "Algorithm 1, PnP discretisation",
                                  .make = make_pmc<Discretization::pnp>,
                                  .discretization = Discretization::pnp};
extern const SamplerEntry pmc_red{
    .name = "pmc-red", .summary = "Algorithm 1, RED discretisation", .make = make_pmc<Discretization::red>};
extern const SamplerEntry apmc_pnp{.name = "apmc-pnp",
                                   .summary = "Algorithm 2 (annealed), PnP discretisation",
                                   .make = make_apmc<Discretization::pnp>,
                                   .discretization = Discretization::pnp,
                                   .annealed = true};
extern const SamplerEntry apmc_red{.name = "apmc-red",
                                   .summary = "Algorithm 2 (annealed), RED discretisation",
                                   .make = make_apmc<Discretization::red>,
                                   .annealed = true};

}  // namespace penumbra
