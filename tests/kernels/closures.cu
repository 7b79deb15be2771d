#include "likelihoods/closure_kernels.h"

#include <complex>

#include "kernels/check.cuh"

namespace penumbra::cuda::check {
namespace {

/// Closures of random legs, and for every visibility those that it is in.
struct Closures {
  int count, legs_each;
  std::vector<int> legs, first, closures;
  std::vector<float> y, precision;

  Closures(Random& random, int count_, int legs_each_, int rows)
      : count(count_),
        legs_each(legs_each_),
        y(random.normal<float>(count_)),
        precision(random.normal<float>(count_, 4, 0.5)) {
    std::vector<std::vector<int>> of_row(rows);
    for (int i = 0; i < count; ++i)
      for (int leg = 0; leg < legs_each; ++leg) {
        const int row = random.below(rows);
        const bool minus = random.below(2) == 1;
        legs.push_back(minus ? ~row : row);
        of_row[row].push_back(minus ? ~i : i);
      }
    for (const auto& own : of_row) {
      first.push_back(static_cast<int>(closures.size()));
      closures.insert(closures.end(), own.begin(), own.end());
    }
    first.push_back(static_cast<int>(closures.size()));
  }

  double sum_over_legs(int i, const Numbers& of) const {
    double sum = 0;
    for (int leg = 0; leg < legs_each; ++leg) {
      const int at = legs[i * legs_each + leg];
      sum += at >= 0 ? of[at] : -of[~at];
    }
    return sum - y[i];
  }
};

struct Uploaded {
  OnDevice<int> legs, first, closures;
  OnDevice<float> y, precision;

  explicit Uploaded(const Closures& c)
      : legs(c.legs), first(c.first), closures(c.closures), y(c.y), precision(c.precision) {}

  ClosureSet set(const Closures& c) const {
    return {c.count, c.legs_each, legs.data(), y.data(), precision.data(), first.data(), closures.data()};
  }
};

void check_problem(Report& report, Random& random, int rows, int chains, int phases, int amplitudes) {
  constexpr float softening = 1e-6f;
  const Closures phase(random, phases, 3, rows), amplitude(random, amplitudes, 4, rows);
  const auto V = random.normal<float>(static_cast<size_t>(2) * rows * chains);
  Numbers energy(chains), pull(V.size());
  for (int chain = 0; chain < chains; ++chain) {
    const auto at = [&](int row, bool imaginary) {
      return static_cast<size_t>(row + (imaginary ? rows : 0)) * chains + chain;
    };
    Numbers angle, log_size, on_angle(rows), on_log(rows);
    for (int row = 0; row < rows; ++row) {
      const std::complex<double> v(V[at(row, false)], V[at(row, true)]);
      angle.push_back(std::arg(v));
      log_size.push_back(0.5 * std::log(std::norm(v) + softening));
    }
    const auto give = [](const Closures& c, int i, double slope, Numbers& to) {
      for (int leg = 0; leg < c.legs_each; ++leg) {
        const int row = c.legs[i * c.legs_each + leg];
        to[row >= 0 ? row : ~row] += row >= 0 ? slope : -slope;
      }
    };
    for (int i = 0; i < phases; ++i) {
      const double d = phase.sum_over_legs(i, angle);
      energy[chain] += phase.precision[i] * (1 - std::cos(d));
      give(phase, i, phase.precision[i] * std::sin(d), on_angle);
    }
    for (int i = 0; i < amplitudes; ++i) {
      const double d = amplitude.sum_over_legs(i, log_size);
      energy[chain] += 0.5 * amplitude.precision[i] * d * d;
      give(amplitude, i, amplitude.precision[i] * d, on_log);
    }
    for (int row = 0; row < rows; ++row) {
      const double re = V[at(row, false)], im = V[at(row, true)], square = re * re + im * im + softening;
      pull[at(row, false)] = (on_log[row] * re - on_angle[row] * im) / square;
      pull[at(row, true)] = (on_log[row] * im + on_angle[row] * re) / square;
    }
  }
  const Uploaded phase_set(phase), amplitude_set(amplitude);
  const OnDevice<float> visibilities(V);
  OnDevice<float> found_energy(chains), found_pull(V.size());
  require(closure_pull({rows, chains, softening}, phase_set.set(phase), amplitude_set.set(amplitude),
                       visibilities.data(), found_energy.data(), found_pull.data(), nullptr));
  report.compare("closures, energy", exact(found_energy.read()), energy, 1e-5);
  report.compare("closures, derivative", exact(found_pull.read()), pull, 1e-4);
}

}  // namespace

void check_closures(Report& report) {
  Random random(5);
  check_problem(report, random, 7, 3, 5, 4);
  check_problem(report, random, 284, 5, 300, 280);
}

}  // namespace penumbra::cuda::check
