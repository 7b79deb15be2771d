/// A sampler is one verb on a state: x_k -> x_{k+1} for a batch of chains.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/random.h"
#include "samplers/posterior.h"
#include "samplers/schedule.h"

namespace penumbra {

/// All that the next step needs; complete as a checkpoint because the noise is a function of (seed, chain, k).
struct ChainState {
  Tensor x;                 ///< [chains, channels, height, width]
  int64_t k = 0;            ///< iterations done
  int64_t first_chain = 0;  ///< the number of the first chain in x
  Tensor shared = {};       ///< what a method keeps for all chains together; undefined where there is nothing
  Tensor velocity = {};     ///< as x: where the last step has momentum; undefined before the first one and without
};

/// What a step did.
struct StepInfo {
  double sigma = 0;
  double alpha = 1;
  double step_size = 0;
  Tensor grad_norm;   ///< |grad g(x_k)|, [chains]
  Tensor score_norm;  ///< |S|, [chains]
  /// What a method that fits something minimises; NaN: it does not.
  double objective = std::numeric_limits<double>::quiet_NaN();
  Tensor acceptance = {};  ///< probability with which each proposal was taken, [chains]; undefined: all are
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  virtual StepInfo step(ChainState& state) const = 0;
  /// The image that an iterate stands for in records and samples.
  virtual Tensor image(const ChainState& state) const { return state.x; }
  /// sigma_k and alpha_k, for diagnostics and certificates.
  virtual Annealing annealing(int64_t k) const = 0;
  /// gamma.
  virtual double step_size() const = 0;
  /// Whether the theorems are about it: false where options changed the paper's algorithm.
  virtual bool is_the_papers() const { return true; }
  /// Whether a step differentiates through the prior's network, and so keeps all of its layers in memory.
  virtual bool keeps_layers() const { return false; }
  /// The standard deviation of x_0, where the method itself says from what noise it starts.
  virtual std::optional<double> start_sd() const { return std::nullopt; }
  /// Numbers in the state's `shared`, which the first step makes, for as many chains; 0: the chains share nothing.
  /// Those that do are stepped together.
  virtual int64_t shared_count(int64_t /*chains*/) const { return 0; }
  /// The share of a step that the next one repeats; above 0 the state has a velocity.
  virtual double momentum() const { return 0; }
  /// Whether chains act on one another: then one process has them all.
  virtual bool couples_chains() const { return false; }
};

/// The first of `steps` iterations from which sigma and alpha no longer change.
int64_t settled_at(const Sampler& sampler, int64_t steps);

/// What a sampler is made from.
struct SamplerContext {
  Posterior posterior;
  uint64_t seed = 0;
  int64_t steps = 0;
};

/// Where the theorems and the stability rule look: which score point and which of them are Langevin chains.
enum class Discretization { red, pnp };

/// Registers a sampler by the name that `sampler.kind` uses.
struct SamplerEntry {
  std::string name;
  std::string summary;
  std::unique_ptr<Sampler> (*make)(Settings& settings, const SamplerContext& context);
  bool random = true;  ///< false: a deterministic iteration, one chain says it all
  Discretization discretization = Discretization::red;
  bool annealed = false;
  bool langevin = true;   ///< a chain whose iterates are draws and whose step must be stable
  bool adjusted = false;  ///< a Metropolis test takes the step's bias away, and an unstable step is refused
};

const std::vector<const SamplerEntry*>& sampler_entries();

const SamplerEntry& sampler_entry(Settings& settings);

}  // namespace penumbra
