/// WeightedAnnealing: the smoothing sigma_k of the prior and its weight alpha_k at iteration k.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/settings.h"

namespace penumbra {

struct Annealing {
  double sigma = 0;
  double alpha = 1;
};

class Schedule {
 public:
  virtual ~Schedule() = default;
  virtual Annealing at(int64_t k) const = 0;
};

/// What `alpha_power` may be, and where none is given what it and `rho` are.
inline constexpr Bounds alpha_powers{1, 4};
inline constexpr double papers_alpha_power = 2, usual_rho = 7;

/// alpha = max(alpha_0 sigma^2 (sigma / sigma_0)^(alpha_power - 2), 1). alpha_0 is a coefficient, not the first element
/// of the sequence. The paper's power is 2; with a larger one the data come in earlier.
struct PriorWeight {
  double alpha_0 = 1, power = papers_alpha_power, sigma_0 = 1;
  double unbounded(double sigma) const;
  double at(double sigma) const;
};

/// sigma_k = max(sigma_0 xi^k, sigma_min), alpha_k as above. The paper prints min in the first formula; text, figures
/// and the authors' code need max (docs/notation.md).
class GeometricSchedule final : public Schedule {
 public:
  struct Options {
    double sigma_0 = 348, sigma_min = 0.01, xi = 0.99, alpha_0 = 1e4, alpha_power = papers_alpha_power;
  };
  explicit GeometricSchedule(Options options) : options_(options) {}
  Annealing at(int64_t k) const override;

 private:
  Options options_;
};

class ConstantSchedule final : public Schedule {
 public:
  explicit ConstantSchedule(Annealing value) : value_(value) {}
  Annealing at(int64_t) const override { return value_; }

 private:
  Annealing value_;
};

/// Registers a schedule by the name that `sampler.schedule.kind` uses.
struct ScheduleEntry {
  std::string name;
  std::string summary;
  std::unique_ptr<Schedule> (*make)(Settings& settings, int64_t steps);
};

const std::vector<const ScheduleEntry*>& schedule_entries();

std::shared_ptr<const Schedule> make_schedule(Settings settings, int64_t steps);

}  // namespace penumbra
