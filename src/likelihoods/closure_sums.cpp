#include "likelihoods/closure_sums.h"

#include <ATen/ATen.h>

#include <cmath>
#include <map>

#include "core/error.h"

namespace penumbra {
namespace {

Tensor indices(const std::vector<int64_t>& values, const Placement& placement) {
  return at::tensor(values, at::kLong).to(placement.device);
}

/// sum over the legs that both have, [n, n].
template <size_t legs>
Tensor covariance(const std::vector<vlbi::Closure<legs>>& closures, const std::vector<int64_t>& block) {
  std::map<int64_t, int64_t> columns;
  for (const auto i : block)
    for (const auto row : closures[static_cast<size_t>(i)].rows)
      columns.emplace(row, static_cast<int64_t>(columns.size()));
  const auto n = static_cast<int64_t>(block.size());
  auto design = at::zeros({n, static_cast<int64_t>(columns.size())}, at::kDouble);
  auto entry = design.accessor<double, 2>();
  for (int64_t i = 0; i < n; ++i) {
    const auto& closure = closures[static_cast<size_t>(block[static_cast<size_t>(i)])];
    for (size_t leg = 0; leg < legs; ++leg)
      entry[i][columns.at(closure.rows[leg])] = closure.signs[leg] * closure.leg_sds[leg];
  }
  return design.matmul(design.t());
}

/// L^-1 with C = L L^T, by way of the correlations, for which the diagonal of L is 1 where data are independent.
Tensor whitening(const Tensor& C) {
  const auto sd = C.diagonal().sqrt();
  const auto [factor, failed] = at::linalg_cholesky_ex(C / at::outer(sd, sd));
  // Rounding leaves a singular matrix a last pivot of 1e-8 at most.
  if (failed.item<int>() != 0 || !(factor.diagonal().min().item<double>() > 1e-7))
    input_error("closures: errors: covariance: expected independent closures, found some that imply each other");
  return at::linalg_inv(factor) / sd;
}

/// Closures that share legs, directly or through others; never of two times.
template <size_t legs>
std::vector<std::vector<int64_t>> blocks_of(const std::vector<vlbi::Closure<legs>>& closures) {
  std::map<int64_t, int64_t> owner;  // of a row: the first closure that has it
  std::vector<int64_t> parent;
  const auto root = [&](int64_t i) {
    while (parent[static_cast<size_t>(i)] != i) i = parent[static_cast<size_t>(i)];
    return i;
  };
  for (const auto& closure : closures) {
    const auto i = static_cast<int64_t>(parent.size());
    parent.push_back(i);
    for (const auto row : closure.rows) {
      const auto [found, is_new] = owner.emplace(row, i);
      if (!is_new) parent[static_cast<size_t>(root(i))] = root(found->second);
    }
  }
  std::map<int64_t, std::vector<int64_t>> groups;
  for (int64_t i = 0; i < static_cast<int64_t>(closures.size()); ++i) groups[root(i)].push_back(i);
  std::vector<std::vector<int64_t>> blocks;
  for (auto& [first, group] : groups) blocks.push_back(std::move(group));
  return blocks;
}

}  // namespace

ClosureSums::Entries ClosureSums::entries(const std::vector<std::vector<std::pair<int64_t, int>>>& sums,
                                          const Placement& placement) {
  size_t most = 0;
  for (const auto& sum : sums) most = std::max(most, sum.size());
  Entries entries;
  for (size_t j = 0; j < most; ++j) {
    std::vector<int64_t> from;
    std::vector<double> signs;
    for (const auto& sum : sums) {
      from.push_back(j < sum.size() ? sum[j].first : 0);
      signs.push_back(j < sum.size() ? sum[j].second : 0);
    }
    entries.emplace_back(indices(from, placement), place(at::tensor(signs, at::kDouble).unsqueeze(1), placement));
  }
  return entries;
}

template <size_t legs>
ClosureSums::ClosureSums(const std::vector<vlbi::Closure<legs>>& closures, int64_t rows, const Placement& placement) {
  std::vector<std::vector<std::pair<int64_t, int>>> by_closure, by_row(static_cast<size_t>(rows));
  for (const auto& closure : closures) {
    const auto i = static_cast<int64_t>(by_closure.size());
    auto& sum = by_closure.emplace_back();
    for (size_t leg = 0; leg < legs; ++leg) {
      sum.emplace_back(closure.rows[leg], closure.signs[leg]);
      by_row[static_cast<size_t>(closure.rows[leg])].emplace_back(i, closure.signs[leg]);
    }
  }
  legs_ = entries(by_closure, placement);
  closures_ = entries(by_row, placement);
}

Tensor ClosureSums::gather(const Entries& entries, const Tensor& x) {
  auto sum = x.index_select(0, entries[0].first) * entries[0].second;
  for (size_t j = 1; j < entries.size(); ++j) sum.addcmul_(x.index_select(0, entries[j].first), entries[j].second);
  return sum;
}

Tensor ClosureSums::over_legs(const Tensor& x) const { return gather(legs_, x); }
Tensor ClosureSums::over_closures(const Tensor& r) const { return gather(closures_, r); }

GrowingVariance GrowingVariance::with(const MoreNoise& more) const { return {own + more.variance * growth, growth}; }

std::vector<double> sds_of(const vlbi::Observation& observation) {
  std::vector<double> sds;
  for (const auto& row : observation.visibilities) sds.push_back(row.sd);
  return sds;
}

template <size_t legs>
GrowingVariance closure_variances(const std::vector<vlbi::Closure<legs>>& closures, const std::vector<double>& sds,
                                  const Placement& placement) {
  std::vector<double> own, growth;
  for (const auto& closure : closures) {
    own.push_back(closure.sd * closure.sd);
    double sum = 0;
    for (size_t leg = 0; leg < legs; ++leg)
      sum += std::pow(closure.leg_sds[leg] / sds[static_cast<size_t>(closure.rows[leg])], 2);
    growth.push_back(sum);
  }
  const auto column = [&](const std::vector<double>& values) {
    return place(at::tensor(values, at::kDouble).unsqueeze(1), placement);
  };
  return {column(own), column(growth)};
}

ClosurePrecision ClosurePrecision::diagonal(const GrowingVariance& variance) {
  ClosurePrecision precision;
  precision.variance_ = variance;
  precision.diagonal_ = variance.own.reciprocal();
  return precision;
}

ClosurePrecision ClosurePrecision::with(const MoreNoise& more) const {
  return is_diagonal() ? diagonal(variance_->with(more)) : correlated_with_(more);
}

template <size_t legs>
ClosurePrecision ClosurePrecision::correlated(const std::vector<vlbi::Closure<legs>>& closures,
                                              const std::vector<double>& sds, const Placement& placement) {
  const auto groups = blocks_of(closures);
  size_t most = 0;
  for (const auto& group : groups) most = std::max(most, group.size());
  const auto side = static_cast<int64_t>(most), times = static_cast<int64_t>(groups.size());
  auto blocks = at::zeros({times, side, side}, at::kDouble);
  std::vector<int64_t> padded(groups.size() * most, static_cast<int64_t>(closures.size())), position(closures.size());
  for (size_t t = 0; t < groups.size(); ++t) {
    const auto n = static_cast<int64_t>(groups[t].size());
    blocks[static_cast<int64_t>(t)].narrow(0, 0, n).narrow(1, 0, n).copy_(whitening(covariance(closures, groups[t])));
    for (size_t j = 0; j < groups[t].size(); ++j) {
      padded[t * most + j] = groups[t][j];
      position[static_cast<size_t>(groups[t][j])] = static_cast<int64_t>(t * most + j);
    }
  }
  ClosurePrecision precision;
  precision.whitening_ = place(blocks, placement);
  precision.padded_ = indices(padded, placement);
  precision.position_ = indices(position, placement);
  precision.correlated_with_ = [=](const MoreNoise& more) {
    const double variance = more.variance.item<double>();
    auto grown = sds;
    for (double& sd : grown) sd = std::sqrt(sd * sd + variance);
    auto noisier = closures;
    for (auto& closure : noisier)
      for (size_t leg = 0; leg < legs; ++leg) {
        const auto row = static_cast<size_t>(closure.rows[leg]);
        closure.leg_sds[leg] *= grown[row] / sds[row];
      }
    return correlated(noisier, grown, placement);
  };
  return precision;
}

/// [times, most, chains].
Tensor ClosurePrecision::whitened(const Tensor& r) const {
  const auto padded = at::cat({r, r.new_zeros({1, r.size(1)})}).index_select(0, padded_);
  return at::bmm(whitening_, padded.view({whitening_.size(0), whitening_.size(1), r.size(1)}));
}

Tensor ClosurePrecision::times(const Tensor& r) const {
  if (is_diagonal()) return diagonal_ * r;
  const at::NoTF32Guard full_precision;
  const auto product = at::bmm(whitening_.transpose(1, 2), whitened(r));
  return product.view({-1, r.size(1)}).index_select(0, position_);
}

Tensor ClosurePrecision::squared(const Tensor& r) const {
  if (is_diagonal()) return (diagonal_ * r.square()).sum(0);
  const at::NoTF32Guard full_precision;
  return whitened(r).square().sum(at::IntArrayRef({0, 1}));
}

template ClosureSums::ClosureSums(const std::vector<vlbi::ClosurePhase>&, int64_t, const Placement&);
template ClosureSums::ClosureSums(const std::vector<vlbi::LogClosureAmplitude>&, int64_t, const Placement&);
template GrowingVariance closure_variances(const std::vector<vlbi::ClosurePhase>&, const std::vector<double>&,
                                           const Placement&);
template GrowingVariance closure_variances(const std::vector<vlbi::LogClosureAmplitude>&, const std::vector<double>&,
                                           const Placement&);
template ClosurePrecision ClosurePrecision::correlated(const std::vector<vlbi::ClosurePhase>&,
                                                       const std::vector<double>&, const Placement&);
template ClosurePrecision ClosurePrecision::correlated(const std::vector<vlbi::LogClosureAmplitude>&,
                                                       const std::vector<double>&, const Placement&);

}  // namespace penumbra
