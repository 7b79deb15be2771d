#include "likelihoods/closure_kernels.h"

#include <cuda_runtime.h>

#include "core/launch.cuh"

namespace penumbra::cuda {
namespace {

constexpr int threads = 256;

/// x[i], or -x[~i].
__device__ float signed_entry(const float* x, int i) { return i >= 0 ? x[i] : -x[~i]; }

/// A block takes one chain. Sums have one order, so that a run can be repeated.
__global__ void pull_kernel(ClosureProblem p, ClosureSet phases, ClosureSet amplitudes, const float* __restrict__ V,
                            float* energy, float* __restrict__ pull) {
  extern __shared__ float memory[];
  float *phase = memory, *log_amplitude = phase + p.rows, *sine = log_amplitude + p.rows, *off = sine + phases.count;
  __shared__ double partial[threads];
  const int chain = blockIdx.x;
  const auto re = [&](int row) { return V[static_cast<size_t>(row) * p.chains + chain]; };
  const auto im = [&](int row) { return V[static_cast<size_t>(p.rows + row) * p.chains + chain]; };
  for (int row = threadIdx.x; row < p.rows; row += threads) {
    phase[row] = atan2f(im(row), re(row));
    log_amplitude[row] = 0.5f * logf(re(row) * re(row) + im(row) * im(row) + p.softening);
  }
  __syncthreads();
  double sum = 0;
  for (int i = threadIdx.x; i < phases.count; i += threads) {
    float d = 0;
    for (int leg = 0; leg < phases.legs_each; ++leg) d += signed_entry(phase, phases.legs[i * phases.legs_each + leg]);
    d -= phases.y[i];
    const float half = sinf(0.5f * d);
    sum += phases.precision[i] * 2 * half * half;
    sine[i] = phases.precision[i] * sinf(d);
  }
  for (int i = threadIdx.x; i < amplitudes.count; i += threads) {
    float d = 0;
    for (int leg = 0; leg < amplitudes.legs_each; ++leg)
      d += signed_entry(log_amplitude, amplitudes.legs[i * amplitudes.legs_each + leg]);
    d -= amplitudes.y[i];
    sum += 0.5 * amplitudes.precision[i] * d * d;
    off[i] = amplitudes.precision[i] * d;
  }
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) energy[chain] = static_cast<float>(partial[0]);
  // arg V has the slope (-im, re) / |V|^2, log|V| the slope (re, im) / |V|^2.
  for (int row = threadIdx.x; row < p.rows; row += threads) {
    float on_phase = 0, on_log = 0;
    if (phases.count > 0)
      for (int k = phases.first[row]; k < phases.first[row + 1]; ++k)
        on_phase += signed_entry(sine, phases.closures[k]);
    if (amplitudes.count > 0)
      for (int k = amplitudes.first[row]; k < amplitudes.first[row + 1]; ++k)
        on_log += signed_entry(off, amplitudes.closures[k]);
    const float a = re(row), b = im(row), square = a * a + b * b + p.softening;
    pull[static_cast<size_t>(row) * p.chains + chain] = (on_log * a - on_phase * b) / square;
    pull[static_cast<size_t>(p.rows + row) * p.chains + chain] = (on_log * b + on_phase * a) / square;
  }
}

}  // namespace

size_t closure_memory(int rows, int phases, int amplitudes) {
  return sizeof(float) * (2 * static_cast<size_t>(rows) + phases + amplitudes) + sizeof(double) * threads;
}

const char* closure_pull(const ClosureProblem& p, const ClosureSet& phases, const ClosureSet& amplitudes,
                         const float* V, float* energy, float* pull, CUstream_st* stream) {
  // The partial sums are the kernel's own.
  const size_t bytes = closure_memory(p.rows, phases.count, amplitudes.count) - sizeof(double) * threads;
  pull_kernel<<<p.chains, threads, bytes, stream>>>(p, phases, amplitudes, V, energy, pull);
  return last_error();
}

}  // namespace penumbra::cuda
