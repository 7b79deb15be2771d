#include "app/calibration/statistics.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "core/random.h"

namespace penumbra::app::calibration {
namespace {

std::string pixel_name(int64_t index, const Shape& shape) {
  const auto row = index / shape[2] % shape[1], column = index % shape[2];
  if (shape[0] == 1) return fmt::format("pixel_{}_{}", row, column);
  return fmt::format("pixel_{}_{}_{}", index / (shape[1] * shape[2]), row, column);
}

}  // namespace

StatisticsPlan statistics_setting(Settings& settings, const Shape& image_shape, bool has_data) {
  constexpr int64_t in_all = 100;
  const auto n = element_count(image_shape);
  StatisticsPlan plan;
  plan.pixels = settings.integer("pixels", std::min(plan.pixels, n), {0, static_cast<double>(n)});
  plan.flux = settings.flag("flux", true);
  plan.log_likelihood = settings.flag("log_likelihood", has_data);
  if (plan.log_likelihood && !has_data)
    settings.fail("log_likelihood", "expected false: without data there is no likelihood");
  const auto others = plan.pixels + plan.flux + plan.log_likelihood;
  plan.projections = settings.integer("projections", std::max<int64_t>(0, in_all - others), {0, 10000});
  if (others + plan.projections == 0)
    settings.fail("pixels", "expected at least one of pixels, flux, projections and log_likelihood, found none");
  return plan;
}

Statistics::Statistics(const StatisticsPlan& plan, const Shape& image_shape, uint64_t seed)
    : flux_(plan.flux), log_likelihood_(plan.log_likelihood) {
  const auto n = element_count(image_shape);
  const auto keys = uniform({seed, 0, 0}, Stream::probe, at::empty({1, n}, at::kDouble))[0];
  pixels_ = std::get<0>(keys.argsort().narrow(0, 0, plan.pixels).sort());
  const auto d = normal({seed, 0, 1}, Stream::probe, at::empty({plan.projections, n}, at::kDouble));
  directions_ = d / d.norm(2, {1}, true);
  for (int64_t i = 0; i < plan.pixels; ++i) names_.push_back(pixel_name(pixels_[i].item<int64_t>(), image_shape));
  if (flux_) names_.emplace_back("flux");
  for (int64_t i = 1; i <= plan.projections; ++i) names_.push_back(fmt::format("projection_{}", i));
  if (log_likelihood_) names_.emplace_back("log_likelihood");
}

Tensor Statistics::operator()(const Tensor& x, const Tensor& log_likelihood) const {
  const auto pixels = flat(x).to(at::kCPU, at::kDouble);
  std::vector<Tensor> columns{pixels.index_select(1, pixels_)};
  if (flux_) columns.push_back(pixels.mean(1, true));
  columns.push_back(pixels.matmul(directions_.t()));
  if (log_likelihood_) columns.push_back(log_likelihood.to(at::kCPU, at::kDouble).unsqueeze(1));
  return at::cat(columns, 1);
}

std::string kind_of(const std::string& name) {
  const auto digit = name.find_first_of("0123456789");
  return digit == name.npos ? name : name.substr(0, digit - 1);
}

}  // namespace penumbra::app::calibration
