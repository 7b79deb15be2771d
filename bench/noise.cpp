/// The noise generator against torch's own: 16 chains of 64x64, float32.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include "core/random.h"
#include "ratio.h"

namespace penumbra {
namespace {

const auto like = at::empty({16, 1, 64, 64}, at::TensorOptions().dtype(at::kFloat));

void noise(benchmark::State& state) {
  int64_t k = 0;
  bench::compare(
      state,
      [&] {
        benchmark::DoNotOptimize(normal({1, 0, k++}, Stream::langevin, like));
      },
      [&] { benchmark::DoNotOptimize(at::randn_like(like)); });
}
BENCHMARK(noise)->Name("noise/penumbra_over_torch_randn")->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace penumbra
