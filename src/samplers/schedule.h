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

/// sigma_k = max(sigma_0 xi^k, sigma_min), alpha_k = max(alpha_0 sigma_k^2, 1). The paper prints min in the first
/// formula; text, figures and the authors' code need max (docs/notation.md). alpha_0 is a coefficient, not the first
/// element of the sequence.
class GeometricSchedule final : public Schedule {
 public:
  struct Options {
    double sigma_0 = 348, sigma_min = 0.01, xi = 0.99, alpha_0 = 1e4;
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
