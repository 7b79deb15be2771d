/// The course of a comparison: problem by problem, method by method, keeping what is done.
#pragma once

#include "app/experiments/linear/comparison.h"

namespace penumbra::app::linear {

using MakeMethods = std::vector<Method> (*)(const Problem& problem, bool quick, int64_t steps);

/// All that a reconstruction depends on, in words and digests: the program's version, the problem, the sampler with
/// every key, the weights of prior, denoiser and method.
std::string fingerprint(const Problem& problem, const Method& method, const SamplingOptions& sampling);

/// Everything but the checks. What an earlier, interrupted run of the same settings has in OUT/kept is taken from
/// there.
Comparison compare_methods(const std::string& experiment, const std::string& title, const std::vector<Task>& tasks,
                           MakeMethods methods, const ExperimentOptions& options);

}  // namespace penumbra::app::linear
