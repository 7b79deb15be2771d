/// The interferometer's likelihood: 64x64 pixels, 284 visibilities, closure phases, closure amplitudes and the flux.
#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <c10/core/GradMode.h>

#include "likelihoods/interferometry.h"
#include "ratio.h"

namespace penumbra {
namespace {

constexpr int64_t side = 64;
constexpr size_t visibilities = 284;

vlbi::PixelGrid grid() { return {side, side, 2 * vlbi::microarcsecond, vlbi::Pulse::triangle}; }

/// Eight stations on a turning sphere.
vlbi::Observation observation() {
  vlbi::Observation result;
  constexpr int stations = 8;
  for (int t = 0; result.visibilities.size() < visibilities; ++t)
    for (int a = 0; a < stations; ++a)
      for (int b = a + 1; b < stations && result.visibilities.size() < visibilities; ++b) {
        const auto u = [t](int s) { return 4e9 * std::cos(0.8 * s * s + 0.26 * t); };
        const auto v = [t](int s) { return 4e9 * std::sin(2.3 * s + 0.1 * t); };
        result.visibilities.push_back({.time = static_cast<double>(t),
                                       .first = a,
                                       .second = b,
                                       .u = u(a) - u(b),
                                       .v = v(a) - v(b),
                                       .value = std::polar(1.0, 0.3 * a + 0.9 * b + t),
                                       .sd = 0.05});
      }
  return result;
}

InterferometryLikelihood likelihood(const at::Device& device = at::kCPU) {
  const auto data = observation();
  InterferometryOptions options{.grid = grid(), .closure_phase = 1, .log_closure_amplitude = 1};
  options.flux = {1, 1, 0.1};
  return {{1, side, side}, data, vlbi::form_closures(data), options, {at::kFloat, device}};
}

/// Of about 1 Jy.
Tensor images(int64_t count) {
  return uniform({1, 0, 0}, Stream::probe, at::empty({count, 1, side, side}, at::kFloat)) * (2.0 / (side * side));
}

/// Against the two matrix products that cannot be avoided.
void value_and_gradient(benchmark::State& state) {
  c10::NoGradGuard no_gradients;
  at::set_num_threads(1);
  const auto ours = likelihood();
  const auto x = images(state.range(0));
  const auto A = vlbi::dft_matrix(observation(), grid()).to(at::kFloat);
  const auto pixels = flat(x);
  bench::compare(
      state, [&] { benchmark::DoNotOptimize(ours.value_and_grad(x)); },
      [&] {
        const auto V = at::mm(A, pixels.t());
        benchmark::DoNotOptimize(at::mm(V.t(), A));
      });
}
BENCHMARK(value_and_gradient)
    ->Name("interferometry/value_and_gradient_over_two_products")
    ->Arg(1)
    ->Arg(16)
    ->Arg(100)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

/// Reading one number waits for the GPU, in both.
void value_and_gradient_on_gpu(benchmark::State& state) {
  c10::NoGradGuard no_gradients;
  const auto ours = likelihood(at::kCUDA);
  const auto x = images(state.range(0)).to(at::kCUDA);
  const auto A = vlbi::dft_matrix(observation(), grid()).to(at::kCUDA, at::kFloat);
  const auto pixels = flat(x);
  bench::compare(
      state, [&] { ours.value_and_grad(x).second[0][0][0][0].item<float>(); },
      [&] { at::mm(at::mm(A, pixels.t()).t(), A)[0][0].item<float>(); });
}

[[maybe_unused]] const bool registered = [] {
  if (at::hasCUDA())
    benchmark::RegisterBenchmark("interferometry/value_and_gradient_over_two_products/cuda", value_and_gradient_on_gpu)
        ->Arg(100)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  return true;
}();

/// A x^T, or as the paper's code multiplies: each image with the whole matrix, then summed.
using Product = Tensor (*)(const Tensor& A, const Tensor& x);
Tensor product(const Tensor& A, const Tensor& x) { return at::mm(A, x); }
Tensor broadcast_product(const Tensor& A, const Tensor& x) {
  return (A.unsqueeze(0) * x.t().contiguous().unsqueeze(1)).sum(2).t();
}

/// As it is often written: a matrix for every leg of every closure, and their gradients likewise.
struct LegByLeg {
  template <size_t legs>
  struct Set {
    std::array<Tensor, legs> A;  ///< complex [closures, pixels]
    std::array<int, legs> signs{};
    Tensor y, precision;  ///< [closures, 1]

    Set(const Tensor& all, const std::vector<vlbi::Closure<legs>>& closures) {
      std::vector<float> values, weights;
      for (const auto& closure : closures) {
        values.push_back(static_cast<float>(closure.value));
        weights.push_back(static_cast<float>(1 / (closure.sd * closure.sd)));
      }
      y = at::tensor(values).unsqueeze(1);
      precision = at::tensor(weights).unsqueeze(1);
      for (size_t leg = 0; leg < legs; ++leg) {
        std::vector<int64_t> rows;
        for (const auto& closure : closures) rows.push_back(closure.rows[leg]);
        signs[leg] = closures.front().signs[leg];
        A[leg] = all.index_select(0, at::tensor(rows));
      }
    }
  };
  Set<3> phases;
  Set<4> amplitudes;
  Product times;

  static Tensor complex_matrix() {
    const auto parts = vlbi::dft_matrix(observation(), grid()).to(at::kFloat).chunk(2);
    return at::complex(parts[0], parts[1]);
  }
  LegByLeg(const vlbi::Closures& closures, Product product)
      : phases(complex_matrix(), closures.phases), amplitudes(complex_matrix(), closures.amplitudes), times(product) {}
  /// w^T A, [images, pixels].
  Tensor transposed(const Tensor& w, const Tensor& A) const { return times(A.t(), w).t(); }

  std::pair<Tensor, Tensor> operator()(const Tensor& x) const {
    const auto pixels = flat(x).t().to(at::kComplexFloat);
    auto grad = at::zeros_like(flat(x));
    std::vector<Tensor> V;
    auto d = -phases.y;
    for (size_t leg = 0; leg < 3; ++leg) {
      V.push_back(times(phases.A[leg], pixels));
      d = d + phases.signs[leg] * at::angle(V.back());
    }
    auto value = (phases.precision * (1 - d.cos())).sum(0);
    for (size_t leg = 0; leg < 3; ++leg)
      grad += at::imag(transposed(phases.signs[leg] * phases.precision * d.sin() / V[leg], phases.A[leg]));
    V.clear();
    auto l = -amplitudes.y;
    for (size_t leg = 0; leg < 4; ++leg) {
      V.push_back(times(amplitudes.A[leg], pixels));
      l = l + amplitudes.signs[leg] * V.back().abs().log();
    }
    value = value + 0.5 * (amplitudes.precision * l.square()).sum(0);
    for (size_t leg = 0; leg < 4; ++leg)
      grad += at::real(transposed(amplitudes.signs[leg] * amplitudes.precision * l / V[leg], amplitudes.A[leg]));
    // The flux of 1 +- 0.1 Jy.
    const auto flux = flat(x).sum(1) - 1;
    return {value + 50 * flux.square(), (grad + 100 * flux.unsqueeze(1)).view_as(x)};
  }
};

void leg_by_leg(benchmark::State& state, Product product) {
  c10::NoGradGuard no_gradients;
  at::set_num_threads(1);
  const auto ours = likelihood();
  const LegByLeg legs(vlbi::form_closures(observation()), product);
  const auto x = images(state.range(0));
  const auto reference = legs(x).second;
  state.counters["relative_difference"] = ((ours.grad(x) - reference).norm() / reference.norm()).item<double>();
  bench::compare(
      state, [&] { benchmark::DoNotOptimize(ours.value_and_grad(x)); }, [&] { benchmark::DoNotOptimize(legs(x)); });
}
BENCHMARK_CAPTURE(leg_by_leg, products, product)
    ->Name("interferometry/value_and_gradient_over_leg_by_leg")
    ->Arg(16)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(leg_by_leg, broadcast, broadcast_product)
    ->Name("interferometry/value_and_gradient_over_leg_by_leg_broadcast")
    ->Arg(16)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace penumbra
