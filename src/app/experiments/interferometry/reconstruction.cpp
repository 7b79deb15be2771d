#include "app/experiments/interferometry/reconstruction.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "app/experiments/record.h"
#include "app/run_modes.h"
#include "diagnostics/alignment.h"
#include "diagnostics/fitting.h"
#include "diagnostics/metrics.h"
#include "diagnostics/ring.h"
#include "io/file.h"
#include "io/npy.h"
#include "run/graph_step.h"

namespace penumbra::app::interferometry {
namespace {

using diagnostics::RingOptions;
using nlohmann::json;

const double nothing = std::nan("");

/// One kind of data: chi^2 of every sample; empty where there is none.
Tensor chi2_of(const std::vector<diagnostics::TermFit>& fits, const std::string& term) {
  for (const auto& fit : fits)
    if (fit.term == term) return fit.chi2;
  return {};
}

/// Means over the samples that are kept, and over all.
std::pair<double, double> mean_chi2(const std::vector<diagnostics::TermFit>& fits, const Tensor& kept,
                                    const std::string& term) {
  const auto chi2 = chi2_of(fits, term);
  if (!chi2.defined()) return {nothing, nothing};
  return {chi2.index_select(0, kept).mean().item<double>(), chi2.mean().item<double>()};
}

/// The last ones, of which each is of another chain: the others add little, and a ring takes its time.
constexpr int64_t most_rings = 100;

void measure_rings(Quality& quality, const SkyCase& sky, const Tensor& all) {
  const RingOptions options{.fov = sky.fov};
  const auto count = std::min(all.size(0), most_rings);
  const auto samples = all.narrow(0, all.size(0) - count, count);
  double sum = 0, found = 0;
  for (int64_t i = 0; i < count; ++i)
    if (const auto ring = diagnostics::find_ring(samples[i][0], options)) sum += ring->diameter, ++found;
  const auto own = diagnostics::find_ring(sky.truth[0], options);
  quality.with_ring = found / static_cast<double>(samples.size(0));
  quality.diameter = found > 0 ? sum / found : nothing;
  quality.diameter_error = found > 0 && own ? std::abs(quality.diameter - own->diameter) : nothing;
}

/// Chains stepped together: where the gradient goes through the network, all its layers are kept for each.
int64_t chains_at_once(const Sampler& sampler, int64_t chains, const Placement& placement) {
  if (sampler.shared_count(chains) > 0) return chains;  // what they share is fitted once
  return std::min<int64_t>(chains, placement.device.is_cpu() ? 8 : 128);
}

bool records(const SamplerEntry& entry, int64_t k, int64_t steps) {
  if (k == steps) return true;
  return entry.random && entry.langevin && 10 * k > 9 * steps && (steps - k) % 5 == 0;
}

}  // namespace

const std::vector<QualityField>& quality_fields() {
  static const std::vector<QualityField> fields{{"psnr", &Quality::psnr},
                                                {"ncc", &Quality::ncc},
                                                {"chi2_phase", &Quality::chi2_phase},
                                                {"chi2_amplitude", &Quality::chi2_amplitude},
                                                {"chi2_phase_all", &Quality::chi2_phase_all},
                                                {"chi2_amplitude_all", &Quality::chi2_amplitude_all},
                                                {"coverage", &Quality::coverage},
                                                {"sd", &Quality::sd},
                                                {"diameter", &Quality::diameter},
                                                {"diameter_error", &Quality::diameter_error},
                                                {"with_ring", &Quality::with_ring},
                                                {"left_out", &Quality::left_out}};
  return fields;
}

double cross_correlation(const Tensor& a, const Tensor& b) {
  const auto p = a - a.mean(), q = b - b.mean();
  return ((p * q).sum() / (p.square().sum() * q.square().sum()).sqrt()).item<double>();
}

Reconstruction judge(const SkyCase& sky, const Tensor& all) {
  Reconstruction result;
  result.mean = all.mean(0);
  result.diverged = !all.isfinite().all().item<bool>();
  if (result.diverged) {
    for (const auto& [name, value] : quality_fields()) result.quality.*value = nothing;
    return result;
  }
  const auto fits = fits_of(*sky.likelihood, place(all, sky.placement));
  const auto fitting = diagnostics::fitting_samples(fits);
  const auto kept = at::tensor(fitting.kept, at::kLong);
  const auto samples = all.index_select(0, kept);
  const auto most = std::min(samples.size(2), samples.size(3)) / 4;
  const bool one = samples.size(0) == 1;
  const auto aligned = one ? samples : diagnostics::align(samples, most).images;
  const auto shift = diagnostics::shift_onto(aligned.mean(0), sky.truth, most);
  const auto moved = aligned.roll({shift.rows, shift.columns}, {-2, -1});
  result.mean = moved.mean(0);
  if (!one) result.sd = moved.std(0, /*unbiased=*/true);
  const auto sd = one ? at::zeros_like(result.mean) : result.sd;
  const auto metrics = diagnostics::compare(sky.truth, {result.mean, sd, {}});
  auto& q = result.quality;
  q.psnr = metrics.psnr_range.value_or(nothing);
  q.ncc = cross_correlation(result.mean, sky.truth);
  q.coverage = one ? nothing : metrics.coverage_3sd;
  q.sd = one ? nothing : metrics.mean_sd;
  q.left_out = static_cast<double>(fitting.left_out.size()) / static_cast<double>(all.size(0));
  std::tie(q.chi2_phase, q.chi2_phase_all) = mean_chi2(fits, kept, "closure_phase");
  std::tie(q.chi2_amplitude, q.chi2_amplitude_all) = mean_chi2(fits, kept, "log_closure_amplitude");
  measure_rings(q, sky, samples);
  return result;
}

linear::Prepared prepare(const Method& method, const SkyCase& sky, const std::shared_ptr<const Score>& prior,
                         uint64_t seed) {
  auto settings = Settings::from_text(method.sampler, method.name);
  if (settings.text("kind", "apmc-pnp") == "rml")
    settings.set_default("prior_mean", fmt::format("{:.6g}", sky.mean_pixel()));
  return linear::prepare(settings, {sky.likelihood, prior}, seed);
}

Sampled sample(const linear::Prepared& prepared, const std::shared_ptr<const Score>& prior,
               const SamplingOptions& options, const OnStep& on_step) {
  const c10::NoGradGuard no_gradients;
  const auto begin = std::chrono::steady_clock::now();
  Sampled result;
  const auto chains = result.chains = prepared.entry->random ? options.chains : 1;
  const auto group = chains_at_once(*prepared.sampler, chains, options.placement);
  std::vector<Tensor> all, last;
  GraphStep step(*prepared.sampler);
  for (int64_t first = 0; first < chains; first += group) {
    const auto count = std::min(group, chains - first);
    auto state = initial_state(prepared.start, *prior, options.seed, first, count, options.placement);
    while (state.k < prepared.steps) {
      step(state);
      on_step(first * prepared.steps + state.k * count, chains * prepared.steps);
      if (records(*prepared.entry, state.k, prepared.steps))
        all.push_back(prepared.sampler->image(state).to(at::kCPU, at::kDouble));
    }
    last.push_back(all.back());
  }
  result.samples = at::cat(all);
  result.last = at::cat(last);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

void keep(const Reconstruction& r, const std::filesystem::path& folder, const std::string& key,
          const std::string& fingerprint) {
  std::filesystem::create_directories(folder);
  // The old one must not speak for the new arrays.
  std::filesystem::remove(folder / (key + ".json"));
  io::write_npy(folder / (key + ".npy"), (r.sd.defined() ? at::cat({r.mean, r.sd}) : r.mean).to(at::kFloat));
  json numbers;
  for (const auto& [name, value] : quality_fields()) numbers[name] = r.quality.*value;
  io::write_file(folder / (key + ".json"), json{{"fingerprint", fingerprint},
                                                {"sampler", r.sampler},
                                                {"random", r.random},
                                                {"chains", r.chains},
                                                {"steps", r.steps},
                                                {"seconds", r.seconds},
                                                {"diverged", r.diverged},
                                                {"quality", numbers}}
                                                   .dump(1) +
                                               "\n");
}

std::optional<Reconstruction> kept(const std::filesystem::path& folder, const std::string& key,
                                   const std::string& fingerprint) {
  const auto record = kept_record(folder / (key + ".json"), fingerprint);
  if (!record) return std::nullopt;
  const auto& found = *record;
  Reconstruction r;
  r.sampler = found.at("sampler").get<std::string>();
  r.random = found.at("random").get<bool>();
  r.chains = found.at("chains").get<int64_t>();
  r.steps = found.at("steps").get<int64_t>();
  r.seconds = found.at("seconds").get<double>();
  r.diverged = found.at("diverged").get<bool>();
  // JSON has no NaN: what does not exist was written as null.
  for (const auto& [name, value] : quality_fields()) {
    if (!found.at("quality").contains(name)) return std::nullopt;  // an older program's
    const auto& number = found.at("quality").at(name);
    r.quality.*value = number.is_number() ? number.get<double>() : nothing;
  }
  const auto maps = io::read_npy(folder / (key + ".npy")).to(at::kDouble);
  r.mean = maps.narrow(0, 0, 1);
  if (maps.size(0) == 2) r.sd = maps.narrow(0, 1, 1);
  return r;
}

}  // namespace penumbra::app::interferometry
