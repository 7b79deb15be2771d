#include "app/experiments/linear/reconstruction.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/defaults.h"
#include "app/experiments/record.h"
#include "diagnostics/metrics.h"
#include "io/file.h"
#include "io/npy.h"
#include "samplers/sampler.h"

namespace penumbra::app::linear {
namespace {

using nlohmann::json;

constexpr diagnostics::PixelRange pixels{-1, 1};

/// Rows stepped together. A GPU wants many; a gradient through the network keeps every layer of it.
int64_t rows_at_once(const Problem& problem, const Sampler& sampler) {
  const auto pixel_count = element_count(problem.prior->image_shape());
  const int64_t budget = problem.placement.device.is_cpu() ? int64_t{1} << 18 : int64_t{1} << 24;
  return std::max<int64_t>(1, budget / pixel_count / (sampler.keeps_layers() ? 4 : 1));
}

double psnr_of_means(const Tensor& x, int64_t chains, const Tensor& truths) {
  const auto mean = x.reshape({-1, chains, x.size(1), x.size(2), x.size(3)}).mean(1).clamp(pixels.low, pixels.high);
  const auto mse = (mean - truths.to(mean.options())).square().mean({1, 2, 3});
  return (-10 * mse.log10()).sum().item<double>();
}

/// The last iterate, and for Langevin chains every fifth of their last tenth, when sigma and alpha have settled.
bool records(const SamplerEntry& entry, int64_t k, int64_t steps) {
  if (k == steps) return true;
  return entry.random && entry.langevin && 10 * k > 9 * steps && (steps - k) % 5 == 0;
}

/// Mean and SD over the chains of each image and over recorded iterates.
class Pooled {
 public:
  explicit Pooled(int64_t chains) : chains_(chains) {}

  void add(const Tensor& x) {
    const auto each = x.to(at::kDouble).reshape({-1, chains_, x.size(1), x.size(2), x.size(3)});
    // Relative to the first mean: squares of small deviations keep their digits.
    if (!origin_.defined()) {
      origin_ = each.mean(1, /*keepdim=*/true);
      sum_ = at::zeros_like(each.select(1, 0));
      squares_ = at::zeros_like(sum_);
    }
    sum_ += (each - origin_).sum(1);
    squares_ += (each - origin_).square().sum(1);
    count_ += static_cast<double>(chains_);
  }
  Tensor mean() const { return (origin_.squeeze(1) + sum_ / count_).cpu(); }
  Tensor sd() const {
    const auto spread = (squares_ - sum_.square() / count_) / (count_ - 1);
    return spread.clamp_min(0).sqrt().cpu();
  }

 private:
  int64_t chains_;
  double count_ = 0;
  Tensor origin_, sum_, squares_;
};

void judge(Reconstruction& result, const Tensor& truths) {
  for (int64_t i = 0; i < truths.size(0); ++i) {
    const auto sd = result.sd.defined() ? result.sd[i] : at::zeros_like(result.mean[i]);
    const auto m = diagnostics::compare(truths[i], {result.mean[i], sd, {}}, pixels);
    Quality q{.psnr = m.psnr_paper, .mse = m.mse, .mae = m.mae, .ssim = m.ssim.value_or(0)};
    if (result.sd.defined()) {
      q.nll = m.nll;
      q.sd = m.mean_sd;
      q.coverage = m.coverage_3sd;
      q.correlation = m.error_sd_rank_correlation.value_or(0);
    }
    result.images.push_back(q);
  }
}

}  // namespace

const std::vector<QualityField>& quality_fields() {
  static const std::vector<QualityField> fields{
      {"psnr", &Quality::psnr},         {"mse", &Quality::mse},
      {"mae", &Quality::mae},           {"ssim", &Quality::ssim},
      {"nll", &Quality::nll},           {"sd", &Quality::sd},
      {"coverage", &Quality::coverage}, {"correlation", &Quality::correlation}};
  return fields;
}

double Reconstruction::average(double Quality::*of) const {
  double sum = 0;
  for (const auto& image : images) sum += image.*of;
  return sum / static_cast<double>(images.size());
}

Prepared prepare(const Method& method, const Posterior& posterior, uint64_t seed) {
  return prepare(Settings::from_text(method.sampler, method.name), posterior, seed);
}

Prepared prepare(Settings settings, const Posterior& posterior, uint64_t seed) {
  Prepared prepared;
  prepared.entry = &sampler_entry(settings);
  derive_defaults(settings, *prepared.entry, posterior);
  prepared.steps = settings.integer("steps", {1, 1e9});
  prepared.sampler = prepared.entry->make(settings, {posterior, seed, prepared.steps});
  settings.finish();
  prepared.resolved = settings.resolved();
  prepared.files = settings.files();
  if (const auto sd = prepared.sampler->start_sd()) {
    prepared.start.kind = Start::Kind::normal;
    prepared.start.sd = *sd;
  }
  return prepared;
}

Reconstruction reconstruct(const Problem& problem, const Method& method, const SamplingOptions& options,
                           const OnStep& on_step) {
  const c10::NoGradGuard no_gradients;
  const auto begin = std::chrono::steady_clock::now();
  const auto images = problem.truths.size(0);
  const auto prior = method.denoiser ? problem.denoiser : problem.prior;
  Reconstruction result;
  result.method = method.name;
  const auto trial = prepare(method, {problem.likelihood(0, 1, 1), prior}, options.seed);
  const auto& entry = *trial.entry;
  result.random = entry.random;
  result.has_course = entry.random && entry.langevin;
  const auto chains = result.chains = result.random ? options.chains : 1;
  const auto group = std::max<int64_t>(1, rows_at_once(problem, *trial.sampler) / chains);
  std::vector<Tensor> means, sds;
  for (int64_t first = 0; first < images; first += group) {
    const auto count = std::min(group, images - first);
    const auto truths = problem.truths.narrow(0, first, count);
    const auto prepared = prepare(method, {problem.likelihood(first, count, chains), prior}, options.seed);
    result.steps = prepared.steps;
    result.sampler = prepared.resolved;
    auto state =
        initial_state(prepared.start, *problem.prior, options.seed, first * chains, count * chains, problem.placement);
    const auto every = std::max<int64_t>(1, prepared.steps / options.course_points);
    Pooled pooled(chains);
    for (size_t point = 0; state.k < prepared.steps;) {
      prepared.sampler->step(state);
      if (records(*prepared.entry, state.k, prepared.steps)) pooled.add(prepared.sampler->image(state));
      if (state.k % every != 0 && state.k != prepared.steps) continue;
      on_step(method.name, first * prepared.steps + state.k * count, images * prepared.steps);
      if (result.course.size() <= point) result.course.emplace_back(state.k, 0);
      result.course[point++].second += psnr_of_means(state.x, chains, truths) / static_cast<double>(images);
    }
    means.push_back(pooled.mean());
    sds.push_back(pooled.sd());
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  result.mean = at::cat(means);
  if (result.random && chains > 1) result.sd = at::cat(sds);
  result.diverged = !result.mean.isfinite().all().item<bool>();
  judge(result, problem.truths.to(at::kDouble));
  return result;
}

void keep(const Reconstruction& r, const std::filesystem::path& folder, const std::string& key,
          const std::string& fingerprint) {
  std::filesystem::create_directories(folder);
  // The old one must not speak for the new arrays.
  std::filesystem::remove(folder / (key + ".json"));
  auto course = json::array(), images = json::array();
  for (const auto& [k, psnr] : r.course) course.push_back({k, psnr});
  for (const auto& image : r.images) {
    json numbers;
    for (const auto& [name, value] : quality_fields()) numbers[name] = image.*value;
    images.push_back(numbers);
  }
  io::write_npy(folder / (key + ".mean.npy"), r.mean.to(at::kFloat));
  if (r.sd.defined()) io::write_npy(folder / (key + ".sd.npy"), r.sd.to(at::kFloat));
  // Last: where this is, the others are.
  io::write_file(folder / (key + ".json"), json{{"fingerprint", fingerprint},
                                                {"method", r.method},
                                                {"sampler", r.sampler},
                                                {"random", r.random},
                                                {"has_course", r.has_course},
                                                {"chains", r.chains},
                                                {"steps", r.steps},
                                                {"seconds", r.seconds},
                                                {"diverged", r.diverged},
                                                {"has_sd", r.sd.defined()},
                                                {"course", course},
                                                {"images", images}}
                                                   .dump(1) +
                                               "\n");
}

namespace {

/// JSON has no NaN: what diverged is written as null.
double number(const json& value) { return value.is_number() ? value.get<double>() : std::nan(""); }

}  // namespace

std::optional<Reconstruction> kept(const std::filesystem::path& folder, const std::string& key,
                                   const std::string& fingerprint) {
  const auto record = kept_record(folder / (key + ".json"), fingerprint);
  if (!record) return std::nullopt;
  const auto& found = *record;
  Reconstruction r;
  r.method = found.at("method").get<std::string>();
  r.sampler = found.at("sampler").get<std::string>();
  r.random = found.at("random").get<bool>();
  r.has_course = found.value("has_course", r.random);
  r.chains = found.at("chains").get<int64_t>();
  r.steps = found.at("steps").get<int64_t>();
  r.seconds = found.at("seconds").get<double>();
  r.diverged = found.at("diverged").get<bool>();
  for (const auto& point : found.at("course")) r.course.emplace_back(point[0].get<int64_t>(), number(point[1]));
  for (const auto& numbers : found.at("images")) {
    Quality image;
    for (const auto& [name, value] : quality_fields()) image.*value = number(numbers.at(name));
    r.images.push_back(image);
  }
  r.mean = io::read_npy(folder / (key + ".mean.npy"));
  if (found.at("has_sd").get<bool>()) r.sd = io::read_npy(folder / (key + ".sd.npy"));
  return r;
}

}  // namespace penumbra::app::linear
