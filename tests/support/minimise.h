/// Limited-memory BFGS for a batch of independent problems, in double.
#pragma once

#include <ATen/ATen.h>

#include <deque>
#include <functional>
#include <utility>

#include "core/tensor.h"

namespace penumbra::test {

/// Values [chains] and gradients [chains, n] at x [chains, n].
using Objective = std::function<std::pair<Tensor, Tensor>(const Tensor& x)>;

/// Until every gradient is shorter than `tolerance`, or for `steps` iterations.
inline Tensor minimise(const Objective& objective, Tensor x, int steps, double tolerance) {
  struct Pair {
    Tensor s, y, rho;
  };
  const auto dot = [](const Tensor& a, const Tensor& b) { return (a * b).sum(1, true); };
  std::deque<Pair> memory;
  auto [f, g] = objective(x);
  for (int k = 0; k < steps && (g.norm(2, 1) > tolerance).any().item<bool>(); ++k) {
    auto direction = g.clone();
    std::vector<Tensor> alphas;
    for (auto pair = memory.rbegin(); pair != memory.rend(); ++pair) {
      alphas.push_back(pair->rho * dot(pair->s, direction));
      direction = direction - alphas.back() * pair->y;
    }
    if (!memory.empty()) {
      const auto& [s, y, rho] = memory.back();
      direction = direction * (dot(s, y) / dot(y, y)).clamp_min(1e-12);
    }
    for (auto& pair : memory) {
      direction = direction + pair.s * (alphas.back() - pair.rho * dot(pair.y, direction));
      alphas.pop_back();
    }
    // Backtracking, each problem by its own step; the first is no longer than the gradient's unit vector.
    auto t = memory.empty() ? (1 / g.norm(2, 1, true)).clamp_max(1) : at::ones_like(f).unsqueeze(1);
    const auto slope = dot(g, direction);
    auto next = x - t * direction;
    auto [f_next, g_next] = objective(next);
    for (int cut = 0; cut < 30; ++cut) {
      const auto fails = (f_next.unsqueeze(1) > f.unsqueeze(1) - 1e-4 * t * slope).logical_or(f_next.isnan().unsqueeze(1));
      if (!fails.any().item<bool>()) break;
      t = at::where(fails, 0.4 * t, t);
      next = x - t * direction;
      std::tie(f_next, g_next) = objective(next);
    }
    const auto s = next - x, y = g_next - g, curvature = dot(s, y);
    // A pair of no curvature is left out by a weight of zero.
    memory.push_back({s, y, at::where(curvature > 1e-300, 1 / curvature, at::zeros_like(curvature))});
    if (memory.size() > 20) memory.pop_front();
    x = next;
    f = f_next;
    g = g_next;
  }
  return x;
}

}  // namespace penumbra::test
