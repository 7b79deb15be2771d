#include "core/random_kernels.h"
#include "kernels/check.cuh"
#include "samplers/langevin_kernels.h"

namespace penumbra::cuda::check {
namespace {

// That the numbers are the CPU's is tested beside LibTorch; here, that they are drawn, and the update is the formula.
void check_update(Report& report, Random& random, int64_t chains, int64_t per_chain, bool held) {
  const size_t count = static_cast<size_t>(chains * per_chain);
  const auto x = random.normal<float>(count), gradient = random.normal<float>(count);
  const auto score = random.normal<float>(count);
  const LangevinNumbers numbers{0.1, 3, 0.25, 0.5, 7};
  OnDevice<float> noise(count), out(count);
  require(draw({Law::normal, 11, 7, 2, 5, chains, per_chain}, noise.data(), nullptr));
  const OnDevice<float> on_x(x), on_gradient(gradient), on_score(score);
  const OnDevice<LangevinNumbers> on_numbers(std::vector<LangevinNumbers>{numbers});
  const LangevinProblem problem{
      11, 2, 5, chains, per_chain, held ? LangevinNumbers{} : numbers, held ? on_numbers.data() : nullptr};
  require(langevin_update(problem, on_x.data(), on_gradient.data(), on_score.data(), out.data(), nullptr));
  const auto z = noise.read();
  Numbers wanted;
  for (size_t i = 0; i < count; ++i) {
    const double drift = gradient[i] - numbers.alpha * score[i];
    wanted.push_back(x[i] - numbers.gamma * drift + numbers.noise * z[i]);
  }
  report.compare("Langevin update", exact(out.read()), wanted, 1e-6);
}

void check_moments(Report& report) {
  constexpr int64_t chains = 3, per_chain = 20001;
  constexpr double count = chains * per_chain;
  OnDevice<double> normal(chains * per_chain), uniform(chains * per_chain);
  require(draw({Law::normal, 1, 0, 0, 0, chains, per_chain}, normal.data(), nullptr));
  require(draw({Law::uniform, 1, 0, 0, 0, chains, per_chain}, uniform.data(), nullptr));
  double mean = 0, square = 0, middle = 0;
  for (const double z : normal.read()) mean += z / count, square += z * z / count;
  for (const double u : uniform.read()) middle += u / count;
  // Five standard errors.
  report.compare("normal numbers, mean", {1 + mean}, {1}, 5 / std::sqrt(count));
  report.compare("normal numbers, square", {square}, {1}, 5 * std::sqrt(2 / count));
  report.compare("uniform numbers, mean", {2 * middle}, {1}, 5 * std::sqrt(1 / (3 * count)));
}

}  // namespace

void check_noise(Report& report) {
  Random random(6);
  for (const bool held : {false, true}) {
    check_update(report, random, 3, 64, held);
    check_update(report, random, 2, 33, held);  // no whole blocks of four
    check_update(report, random, 1, 1, held);
  }
  check_moments(report);
}

}  // namespace penumbra::cuda::check
