#include "app/prior_loops.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace penumbra::app {
namespace {

double rms(const Tensor& x) { return x.square().mean().sqrt().item<double>(); }

/// (D(x) - x) / sigma^2 with the second part in float64, where it is a gradient to the last digits.
theory::ScoreField field_of(const Score& prior, double sigma, const at::Device& device) {
  return [&prior, sigma, device](const Tensor& x) {
    const auto denoised = prior.denoise(x.to(device, at::kFloat), sigma).to(at::kCPU, at::kDouble);
    return (denoised - x) / (sigma * sigma);
  };
}

}  // namespace

Tensor loop_corners(const Tensor& images, double sigma, const LoopPlan& plan) {
  const auto keys = at::empty({plan.loops, images.size(0)}, at::kDouble);
  const auto chosen = uniform({plan.seed, 0, 0}, Stream::shuffle, keys).argsort(int64_t{1}).narrow(1, 0, 3).flatten();
  const auto all = images.to(at::kCPU, at::kDouble).index_select(0, chosen);
  const auto noise = sigma * normal({plan.seed, 0, 0}, Stream::measurement, all);
  Shape shape = images.sizes().vec();
  shape.front() = 3;
  shape.insert(shape.begin(), plan.loops);
  const auto corners = all.reshape(shape), first = corners.narrow(1, 0, 1);
  return first + plan.spread * (corners - first) + noise.reshape(shape);
}

nlohmann::json loop_table(const Score& prior, const Tensor& images, const LoopPlan& plan, const at::Device& device,
                          Progress& progress) {
  auto table = nlohmann::json::array();
  int64_t done = 0;
  for (const double sigma : plan.sigmas) {
    const auto field = field_of(prior, sigma, device);
    const auto corners = loop_corners(images, sigma, plan);
    const theory::ScoreField counted = [&](const Tensor& x) {
      progress.count(done += x.size(0), fmt::format("closed loops, sigma {:g}", sigma));
      return field(x);
    };
    const auto found = theory::closed_loops(counted, corners, plan.rule);
    const double loop = rms(found.circulation), side = rms(found.work);
    table.push_back({{"sigma", sigma},
                     {"loop_rms", loop},
                     {"quadrature_rms", rms(found.error)},
                     {"side_rms", side},
                     {"share", loop / side},
                     {"largest", found.circulation.abs().max().item<double>()},
                     {"side_length_rms", rms(corners.roll(-1, 1) - corners)},
                     {"evaluations", found.evaluations}});
  }
  return table;
}

void print_loops(const nlohmann::json& table) {
  fmt::print("  {:>8}  {:>10}  {:>10}  {:>10}  {:>9}  {:>10}  {:>11}\n", "sigma", "loop", "quadrature", "side",
             "loop/side", "pixel rms", "evaluations");
  for (const auto& row : table) {
    const auto number = [&](const char* key) { return row[key].get<double>(); };
    fmt::print("  {:>8g}  {:>10.4g}  {:>10.2g}  {:>10.4g}  {:>9.2g}  {:>10.3g}  {:>11}\n", number("sigma"),
               number("loop_rms"), number("quadrature_rms"), number("side_rms"), number("share"),
               number("side_length_rms"), row["evaluations"].get<int64_t>());
  }
}

}  // namespace penumbra::app
