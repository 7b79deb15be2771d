#include "diagnostics/modes.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "diagnostics/bisection.h"

namespace penumbra::diagnostics {
namespace {

using Members = std::vector<int64_t>;

Tensor rows(const Tensor& x, const Members& members) { return x.index_select(0, at::tensor(members, at::kLong)); }

std::vector<double> normalised(std::vector<double> weights, int64_t count) {
  if (weights.empty()) weights.assign(count, 1.0);
  if (static_cast<int64_t>(weights.size()) != count)
    input_error("modes: expected a weight for each of {} samples, found {}", count, weights.size());
  double sum = 0;
  for (const auto w : weights) {
    if (!(w >= 0) || !std::isfinite(w)) input_error("modes: expected weights that are finite and >= 0, found {:g}", w);
    sum += w;
  }
  if (!(sum > 0)) input_error("modes: expected weights with a sum > 0, found {:g}", sum);
  for (auto& w : weights) w /= sum;
  return weights;
}

/// Parts what can be parted, the largest part first.
std::vector<Members> part(const Tensor& images, const ModeOptions& options, Modes& found) {
  std::vector<Members> whole(1), done;
  whole[0].resize(images.size(0));
  std::iota(whole[0].begin(), whole[0].end(), int64_t{0});
  while (!whole.empty()) {
    const auto largest =
        std::max_element(whole.begin(), whole.end(), [](auto& a, auto& b) { return a.size() < b.size(); });
    const auto members = std::move(*largest);
    whole.erase(largest);
    const bool enough = static_cast<int64_t>(members.size()) >= least_samples_for_modes;
    const bool room = static_cast<int64_t>(whole.size() + done.size()) + 1 < options.most;
    if (!enough || !room) {
      done.push_back(members);
      continue;
    }
    const auto cut = bisect(rows(images, members), options.seed);
    if (members.size() == static_cast<size_t>(images.size(0)))
      found.distance = cut.distance, found.p_value = cut.p_value;
    if (!cut.two) {
      done.push_back(members);
      continue;
    }
    Members sides[2];
    for (size_t i = 0; i < members.size(); ++i) sides[cut.part[i]].push_back(members[i]);
    whole.insert(whole.end(), {sides[0], sides[1]});
  }
  return done;
}

int64_t medoid(const Tensor& images, const Members& members) {
  const auto x = rows(images, members).flatten(1);
  return members[at::cdist(x, x).sum(1).argmin().item<int64_t>()];
}

Mode describe_mode(const Members& members, const Modes& all, const std::vector<TermFit>& fits) {
  std::vector<double> own;
  double squares = 0;
  for (const auto w : all.weights) squares += w * w;
  for (const auto i : members) own.push_back(all.weights[i]);
  // Over the same sum of all, so that a mode of all samples has the weight 1 exactly.
  const double sum =
      std::accumulate(own.begin(), own.end(), 0.0) / std::accumulate(all.weights.begin(), all.weights.end(), 0.0);
  Mode mode;
  mode.count = static_cast<int64_t>(members.size());
  mode.weight = sum;
  mode.weight_error = std::sqrt(std::max(sum * (1 - sum), 0.0) * squares);  // effective number of samples: 1 / squares
  // A mode of weight 0 has an unweighted mean.
  const auto w = sum > 0 ? at::tensor(own, at::kDouble) / sum : at::full({mode.count}, 1.0 / mode.count, at::kDouble);
  const auto x = rows(all.alignment.images, members);
  mode.mean = (x * per_chain(w, x)).sum(0);
  const double unbiased = 1 - w.square().sum().item<double>();  // (n - 1)/n for equal weights
  const auto variance = ((x - mode.mean).square() * per_chain(w, x)).sum(0);
  mode.sd = mode.count > 1 && unbiased > 0 ? (variance / unbiased).sqrt() : at::full_like(mode.mean, NAN);
  mode.medoid = medoid(all.alignment.images, members);
  for (const auto& fit : fits)
    mode.chi2.push_back((rows(fit.chi2.detach().to(at::kCPU, at::kDouble), members) * w).sum().item<double>());
  return mode;
}

/// Labels and modes, the heaviest first.
void describe_parts(std::vector<Members> parts, const std::vector<TermFit>& fits, Modes& found) {
  const auto heft = [&](const Members& members) {
    double sum = 0;
    for (const auto i : members) sum += found.weights[i];
    return sum;
  };
  std::sort(parts.begin(), parts.end(), [&](const Members& a, const Members& b) {
    return std::pair(-heft(a), a.front()) < std::pair(-heft(b), b.front());
  });
  found.label.assign(found.weights.size(), 0);
  found.modes.clear();
  for (size_t m = 0; m < parts.size(); ++m) {
    for (const auto i : parts[m]) found.label[i] = static_cast<int64_t>(m);
    found.modes.push_back(describe_mode(parts[m], found, fits));
  }
}

}  // namespace

Modes find_modes(const Tensor& samples, const std::vector<TermFit>& fits, const ModeOptions& options,
                 std::vector<double> weights) {
  if (samples.dim() != 4 || samples.numel() == 0)
    input_error("modes: expected samples [samples, channels, height, width], found {}", describe(samples.sizes()));
  const auto count = samples.size(0);
  for (const auto& fit : fits)
    if (fit.chi2.dim() != 1 || fit.chi2.size(0) != count)
      input_error("modes: {}: expected chi2 of {} samples, found {}", fit.term, count, describe(fit.chi2.sizes()));
  if (!samples.isfinite().all().item<bool>()) input_error("modes: expected finite samples, found some that are not");
  Modes found;
  found.weights = normalised(std::move(weights), count);
  const auto side = std::min(samples.size(2), samples.size(3));
  found.alignment = options.align == Align::shift
                        ? align(samples, options.max_shift > 0 ? options.max_shift : side / 4)
                        : Alignment{samples.detach().to(at::kCPU, at::kDouble), std::vector<Shift>(count)};
  describe_parts(part(found.alignment.images, options, found), fits, found);
  return found;
}

Modes reweigh(const Modes& found, const std::vector<TermFit>& fits, std::vector<double> weights) {
  auto other = found;
  other.weights = normalised(std::move(weights), static_cast<int64_t>(found.label.size()));
  std::vector<Members> parts(found.modes.size());
  for (size_t i = 0; i < found.label.size(); ++i) parts[found.label[i]].push_back(static_cast<int64_t>(i));
  describe_parts(std::move(parts), fits, other);
  return other;
}

}  // namespace penumbra::diagnostics
