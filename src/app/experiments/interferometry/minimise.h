/// Limited-memory BFGS with backtracking, in double.
#pragma once

#include <ATen/ATen.h>

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "core/tensor.h"

namespace penumbra::app::interferometry {

/// Value and gradient [n] at x [n].
using Objective = std::function<std::pair<double, Tensor>(const Tensor& x)>;

/// Until the gradient is shorter than `tolerance`, no step goes down, or `steps` iterations are done.
inline Tensor minimise(const Objective& objective, Tensor x, int steps, double tolerance) {
  struct Change {
    Tensor x, g;
    double curvature;
  };
  const auto dot = [](const Tensor& a, const Tensor& b) { return a.dot(b).item<double>(); };
  constexpr size_t memory = 30;
  std::deque<Change> changes;
  auto [f, g] = objective(x);
  for (int k = 0; k < steps && g.norm().item<double>() > tolerance; ++k) {
    auto direction = g;
    std::vector<double> taken;
    for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
      taken.push_back(dot(change->x, direction) / change->curvature);
      direction = direction - taken.back() * change->g;
    }
    if (!changes.empty()) direction = direction * (changes.back().curvature / dot(changes.back().g, changes.back().g));
    for (const auto& change : changes) {
      direction = direction + change.x * (taken.back() - dot(change.g, direction) / change.curvature);
      taken.pop_back();
    }
    double t = changes.empty() ? 1 / g.norm().item<double>() : 1;
    const double slope = dot(g, direction);
    auto [f_next, g_next] = objective(x - t * direction);
    for (int cut = 0; cut < 30 && !(f_next <= f - 1e-4 * t * slope); ++cut) {
      t *= 0.4;
      std::tie(f_next, g_next) = objective(x - t * direction);
    }
    if (!(f_next < f)) break;
    Change change{-t * direction, g_next - g, 0};
    change.curvature = dot(change.x, change.g);
    x = x + change.x;
    if (change.curvature > 0) changes.push_back(change);
    if (changes.size() > memory) changes.pop_front();
    f = f_next;
    g = g_next;
  }
  return x;
}

}  // namespace penumbra::app::interferometry
