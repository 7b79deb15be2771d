#include "app/run_modes.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/json.h"
#include "diagnostics/fitting.h"
#include "diagnostics/tsne.h"
#include "diagnostics/weighted.h"
#include "io/file.h"
#include "io/npy.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;
using diagnostics::Modes;
using diagnostics::Ring;
using nlohmann::json;
using Rings = std::vector<std::optional<Ring>>;

constexpr int64_t misfit_batch = 64;

std::vector<double> numbers(const Tensor& x) {
  const auto flat = x.detach().to(at::kCPU, at::kDouble).contiguous().flatten();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

/// The samples that are sorted: all, or those that fit.
struct Sorted {
  Tensor samples;
  std::vector<int64_t> number;  ///< of each among all
  std::vector<diagnostics::TermFit> fits;
  diagnostics::Fitting fitting;  ///< empty where all were asked for
  int64_t all = 0;
};

Sorted sorted_samples(const Likelihood& likelihood, const Tensor& all, const ModesPlan& plan) {
  Sorted result{all, {}, fits_of(likelihood, all), {}, all.size(0)};
  if (plan.only_fitting) result.fitting = diagnostics::fitting_samples(result.fits);
  if (result.fitting.left_out.empty()) {
    for (int64_t i = 0; i < all.size(0); ++i) result.number.push_back(i);
    return result;
  }
  result.number = result.fitting.kept;
  const auto chosen = at::tensor(result.number, at::kLong);
  result.samples = all.index_select(0, chosen.to(all.device()));
  for (auto& fit : result.fits) fit.chi2 = fit.chi2.index_select(0, chosen);
  return result;
}

json describe_modes(const Modes& found, const Sorted& sorted) {
  const auto& fits = sorted.fits;
  auto list = json::array();
  for (const auto& mode : found.modes) {
    json chi2 = json::object();
    for (size_t t = 0; t < fits.size(); ++t) chi2[fits[t].term] = number(mode.chi2[t]);
    list.push_back({{"weight", mode.weight},
                    {"weight_error", mode.weight_error},
                    {"samples", mode.count},
                    {"medoid", sorted.number[static_cast<size_t>(mode.medoid)]},
                    {"chi2", chi2}});
  }
  json left_out = nullptr;
  if (sorted.fitting.most > 0)
    left_out = {{"samples", sorted.fitting.left_out}, {"of", sorted.all}, {"chi2_above", sorted.fitting.most}};
  return {{"samples", found.label.size()},
          {"left_out", left_out},
          {"too_few_to_tell", static_cast<int64_t>(found.label.size()) < diagnostics::least_samples_for_modes},
          {"distance", number(found.distance)},
          {"p_value", found.p_value ? json(*found.p_value) : json(nullptr)},
          {"modes", list}};
}

/// What the report draws, sample by sample.
json per_sample(const Modes& found, const Sorted& sorted) {
  auto shifts = json::array();
  for (const auto& [rows, columns] : found.alignment.shifts) shifts.push_back({rows, columns});
  json chi2 = json::object();
  for (const auto& fit : sorted.fits) {
    chi2[fit.term] = json::array();
    for (const auto value : numbers(fit.chi2)) chi2[fit.term].push_back(number(value));
  }
  return {
      {"sample", sorted.number}, {"label", found.label}, {"weight", found.weights}, {"shift", shifts}, {"chi2", chi2}};
}

json map_of(const Modes& found, const ModesPlan& plan, uint64_t seed) {
  if (static_cast<int64_t>(found.label.size()) < diagnostics::least_samples_for_modes) return nullptr;
  const auto y = diagnostics::tsne(found.alignment.images, {.perplexity = plan.perplexity, .seed = seed});
  return {{"kind", "t-SNE"},
          {"perplexity", std::min(plan.perplexity, (static_cast<double>(found.label.size()) - 1) / 3)},
          {"x", numbers(y.select(1, 0))},
          {"y", numbers(y.select(1, 1))}};
}

struct Feature {
  const char* name;
  double Ring::*value;
  bool angle = false;
};
constexpr Feature features[] = {{"diameter", &Ring::diameter},
                                {"diameter_sd", &Ring::diameter_sd},
                                {"width", &Ring::width},
                                {"orientation", &Ring::orientation, true},
                                {"asymmetry", &Ring::asymmetry},
                                {"central_contrast", &Ring::central_contrast},
                                {"east", &Ring::east},
                                {"north", &Ring::north},
                                {"orientation_sd", &Ring::orientation_sd}};

void write_ring_table(const fs::path& path, const Rings& rings, const Modes& found,
                      const std::vector<int64_t>& number) {
  std::string text = "sample,mode,weight,ring";
  for (const auto& feature : features) text += fmt::format(",{}", feature.name);
  for (size_t i = 0; i < rings.size(); ++i) {
    text += fmt::format("\n{},{},{:g},{}", number[i], found.label[i] + 1, found.weights[i], rings[i] ? 1 : 0);
    for (const auto& feature : features) {
      const double value = rings[i] ? (*rings[i]).*feature.value : NAN;
      text += std::isfinite(value) ? fmt::format(",{:.6g}", value) : ",";
    }
  }
  io::write_file(path, text + "\n");
}

/// Of the samples with a ring, of one mode or (mode < 0) of all.
json ring_intervals(const Rings& rings, const Modes& found, int64_t mode) {
  json result = json::object();
  std::vector<double> weights;
  int64_t asked = 0;
  const auto counts = [&](size_t i) { return mode < 0 || found.label[i] == mode; };
  for (size_t i = 0; i < rings.size(); ++i) {
    if (!counts(i)) continue;
    ++asked;
    if (rings[i]) weights.push_back(found.weights[i]);
  }
  result["samples"] = asked;
  result["with_ring"] = weights.size();
  double heft = 0;
  for (const auto w : weights) heft += w;
  if (!(heft > 0)) return result;
  for (const auto& feature : features) {
    std::vector<double> values;
    for (size_t i = 0; i < rings.size(); ++i)
      if (counts(i) && rings[i]) values.push_back((*rings[i]).*feature.value);
    const auto found_interval =
        feature.angle ? diagnostics::circular_interval(values, weights) : diagnostics::interval(values, weights);
    result[feature.name] = {{"mean", number(found_interval.mean)},
                            {"sd", number(found_interval.sd)},
                            {"interval_68", {number(found_interval.low68), number(found_interval.high68)}},
                            {"interval_95", {number(found_interval.low95), number(found_interval.high95)}}};
  }
  return result;
}

json write_rings(const fs::path& folder, const ModesPlan& plan, const Sorted& sorted, const Modes& found) {
  const auto samples = sorted.samples.detach().to(at::kCPU, at::kDouble);
  Rings rings;
  for (int64_t i = 0; i < samples.size(0); ++i) rings.push_back(diagnostics::find_ring(samples[i][0], *plan.ring));
  write_ring_table(folder / "ring.csv", rings, found, sorted.number);
  auto result = ring_intervals(rings, found, -1);
  result["fov_uas"] = plan.ring->fov;
  result["blur_uas"] = plan.ring->blur;
  result["by_mode"] = json::array();
  for (size_t m = 0; m < found.modes.size(); ++m)
    result["by_mode"].push_back(ring_intervals(rings, found, static_cast<int64_t>(m)));
  return result;
}

void write_maps(const fs::path& folder, const Modes& found) {
  fs::remove_all(folder);  // an earlier analysis may have found more modes
  fs::create_directories(folder);
  for (size_t m = 0; m < found.modes.size(); ++m) {
    io::write_npy(folder / fmt::format("mean-{}.npy", m + 1), found.modes[m].mean.to(at::kFloat));
    io::write_npy(folder / fmt::format("sd-{}.npy", m + 1), found.modes[m].sd.to(at::kFloat));
  }
}

/// PREFIX-mean.npy and PREFIX-sd.npy of samples, each with its weight.
void write_moments(const fs::path& folder, const std::string& prefix, const Tensor& samples,
                   const std::vector<double>& weights) {
  const auto found = diagnostics::weighted_moments(samples.detach().to(at::kCPU, at::kDouble).unsqueeze(0), weights);
  io::write_npy(folder / (prefix + "-mean.npy"), found.mean.to(at::kFloat));
  io::write_npy(folder / (prefix + "-sd.npy"), found.sd.to(at::kFloat));
}

diagnostics::Verdict verdict_on_modes(const ModeWeights& weighed) {
  const auto& found = weighed.modes;
  const auto count = static_cast<int64_t>(found.label.size());
  if (count < diagnostics::least_samples_for_modes)
    return {"note", "modes",
            fmt::format("{} samples are too few to tell modes apart; {} are needed, 100 are better", count,
                        diagnostics::least_samples_for_modes)};
  if (found.modes.size() == 1)
    return {"note", "modes",
            fmt::format("the {} samples form one mode: no parting leaves two clouds that one Gaussian would not show",
                        count)};
  std::string weights, shares;
  for (size_t m = 0; m < found.modes.size(); ++m) {
    const auto* comma = m == 0 ? "" : ", ";
    weights += fmt::format("{}{:.2f} +- {:.2f}", comma, found.modes[m].weight, found.modes[m].weight_error);
    shares += fmt::format("{}{:.2f}", comma, weighed.shares[m]);
  }
  auto text = fmt::format("the {} samples form {} modes of weight {}", count, found.modes.size(), weights);
  if (weighed.by_odds)
    return {"note", "modes", text + fmt::format(", by the posterior's odds; {} of the samples", shares)};
  if (!weighed.doubted && weighed.why.empty()) return {"note", "modes", text + ", by their numbers"};
  return {weighed.doubted ? "warning" : "note", "modes",
          fmt::format("{}, by their numbers, which need not be the posterior's weights: {}{}", text,
                      weighed.doubted ? "the odds are not to be trusted, " : "", weighed.why)};
}

/// Chains that did not arrive are nobody's draws; many of them say that the sampler was too short.
diagnostics::Verdict verdict_on(const ModeWeights& weighed, const Sorted& sorted) {
  auto verdict = verdict_on_modes(weighed);
  const auto count = sorted.fitting.left_out.size();
  if (count == 0) return verdict;
  constexpr double many = 0.25;
  const bool too_many = static_cast<double>(count) > many * static_cast<double>(sorted.all);
  if (too_many && verdict.level == "note") verdict.level = "warning";
  verdict.text = fmt::format(
      "{} of {} samples are left out: they fit worse (chi2 above {:.2f}) than draws of the posterior do{}; {}", count,
      sorted.all, sorted.fitting.most, too_many ? ", so many that more steps are needed" : "", verdict.text);
  return verdict;
}

/// Of all samples, zero for those that were left out.
std::vector<double> weights_of_all(const Sorted& sorted, const std::vector<double>& weights) {
  std::vector<double> result(static_cast<size_t>(sorted.all), 0.0);
  for (size_t i = 0; i < weights.size(); ++i) result[static_cast<size_t>(sorted.number[i])] = weights[i];
  return result;
}

}  // namespace

std::vector<diagnostics::TermFit> fits_of(const Likelihood& likelihood, const Tensor& samples) {
  std::vector<diagnostics::TermFit> fits;
  for (int64_t first = 0; first < samples.size(0); first += misfit_batch) {
    const auto batch = samples.narrow(0, first, std::min(misfit_batch, samples.size(0) - first));
    const auto misfits = likelihood.misfit(batch);
    fits.resize(misfits.size());
    for (size_t t = 0; t < misfits.size(); ++t) {
      const auto chi2 = misfits[t].chi2.detach().to(at::kCPU, at::kDouble);
      fits[t] = {misfits[t].term, first == 0 ? chi2 : at::cat({fits[t].chi2, chi2}), misfits[t].data_count};
    }
  }
  return fits;
}

ModesFound write_modes(const fs::path& folder, const ModesPlan& plan, const Likelihood& likelihood,
                       const Tensor& all_samples, uint64_t seed, const OddsSource& source) {
  const auto sorted = sorted_samples(
      likelihood, all_samples.narrow(0, 0, std::min(all_samples.size(0), diagnostics::most_on_map)), plan);
  const auto& [samples, number, fits, fitting, all] = sorted;
  auto options = plan.options;
  options.seed = seed;
  const auto weighed = weigh_modes(diagnostics::find_modes(samples, fits, options), fits, plan, source, seed);
  const auto& found = weighed.modes;
  write_maps(folder / "modes", found);
  // One sample has no SD to show.
  const bool aligned = options.align == diagnostics::Align::shift && samples.size(0) > 1;
  if (aligned) write_moments(folder / "modes", "aligned", found.alignment.images, found.weights);
  if (weighed.by_odds) write_moments(folder / "modes", "weighted", samples, found.weights);
  auto modes = describe_modes(found, sorted);
  modes["align"] = aligned ? "shift" : "none";
  if (found.modes.size() > 1) modes["weights"] = describe_weights(weighed);
  json summary{{"modes", modes}};
  modes["per_sample"] = per_sample(found, sorted);
  modes["map"] = map_of(found, plan, seed);
  if (plan.ring) summary["ring"] = write_rings(folder, plan, sorted, found);
  io::write_file(folder / "modes.json", json_text(modes, 1) + "\n");
  ModesFound result{summary, verdict_on(weighed, sorted), {}, {}};
  if (!weighed.by_odds && fitting.left_out.empty()) return result;
  result.sample_weights = weights_of_all(sorted, found.weights);
  result.weighed_by = weighed.by_odds ? "odds" : "fit";
  return result;
}

}  // namespace penumbra::app
