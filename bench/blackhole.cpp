/// Images of black holes a second on one thread; all threads together make as many times more.
#include <benchmark/benchmark.h>

#include "blackhole/image.h"

namespace penumbra {
namespace {

void black_hole_image(benchmark::State& state) {
  const blackhole::ImageOptions options{.size = state.range(0), .seed = 1};
  int64_t index = 0;
  for (auto _ : state) benchmark::DoNotOptimize(blackhole::generate(options, index++));
  state.SetItemsProcessed(index);
}

// As many images as average out how much scenes differ.
BENCHMARK(black_hole_image)->Arg(64)->Arg(128)->Iterations(200)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace penumbra
