/// The benchmarks of a network: `penumbra bench network|iteration|train`. Each prints its table.
#pragma once

#include "app/bench/subject.h"

namespace penumbra::app {

/// One evaluation of the score.
void bench_network_alone(const BenchOptions& options, const at::Device& device);

/// Whole iterations of apmc-pnp, beside the network alone: MRI, and compressed sensing at m/n = 0.1 and 0.3.
void bench_iteration(const BenchOptions& options, const at::Device& device);

/// One step of training.
void bench_training(const BenchOptions& options, const at::Device& device);

}  // namespace penumbra::app
