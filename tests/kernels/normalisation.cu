#include "kernels/check.cuh"
#include "kernels/reference.h"
#include "networks/norm_kernels.h"

namespace penumbra::cuda::check {
namespace {

struct Case {
  int n, height, width, channels, groups;
  bool activate, film;
};

constexpr Case cases[] = {{2, 1, 3, 8, 2, true, true},
                          {3, 9, 7, 40, 5, true, false},
                          {1, 33, 21, 96, 32, false, true},
                          {2, 6, 5, 512, 32, true, true}};

struct Gradients {
  Batch dx;
  Numbers sums;  ///< [n, channels, 2]: of dz, of dz times the normalised x
};

Gradients backward(const Batch& x, const Batch& dy, const Affine64& affine, bool activate) {
  const auto moment = moments(x, affine);
  const int width = x.channels / affine.groups;
  const double count = static_cast<double>(x.height) * x.width * width;
  Gradients result{x, Numbers(static_cast<size_t>(2) * x.n * x.channels)};
  Batch dz = dy, normal = x;
  for_all(x, [&](int i, int y, int column, int c) {
    const double* own = &moment[2 * (static_cast<size_t>(i) * affine.groups + c / width)];
    const double v = normal(i, y, column, c) = (x(i, y, column, c) - own[0]) * own[1];
    const double z = gain_of(affine, x.channels, i, c) * v + offset_of(affine, x.channels, i, c);
    const double s = 1 / (1 + std::exp(-z));
    double& slope = dz(i, y, column, c);
    if (activate) slope *= s * (1 + z * (1 - s));
    double* cell = &result.sums[2 * (static_cast<size_t>(i) * x.channels + c)];
    cell[0] += slope;
    cell[1] += slope * v;
  });
  Numbers means(static_cast<size_t>(2) * x.n * affine.groups);
  for (int i = 0; i < x.n; ++i)
    for (int c = 0; c < x.channels; ++c)
      for (int which = 0; which < 2; ++which)
        means[2 * (static_cast<size_t>(i) * affine.groups + c / width) + which] +=
            gain_of(affine, x.channels, i, c) * result.sums[2 * (static_cast<size_t>(i) * x.channels + c) + which] /
            count;
  for_all(x, [&](int i, int y, int column, int c) {
    const size_t group = 2 * (static_cast<size_t>(i) * affine.groups + c / width);
    result.dx(i, y, column, c) = moment[group + 1] * (gain_of(affine, x.channels, i, c) * dz(i, y, column, c) -
                                                      means[group] - normal(i, y, column, c) * means[group + 1]);
  });
  return result;
}

template <typename T>
void check_case(Report& report, Random& random, const Case& s) {
  const size_t pixels = static_cast<size_t>(s.n) * s.height * s.width;
  const auto x = random.normal<T>(pixels * s.channels, 0.5), dy = random.normal<T>(pixels * s.channels);
  const auto weight = random.normal<float>(s.channels, 1, 0.3), bias = random.normal<float>(s.channels);
  const auto film = random.normal<float>(static_cast<size_t>(2) * s.n * s.channels, 0, 0.3);
  constexpr float epsilon = 1e-5f;
  const Affine64 affine{exact(weight), exact(bias), s.film ? exact(film) : Numbers{}, s.groups, epsilon};
  const Batch exact_x(s.n, s.height, s.width, s.channels, exact(x));
  const Batch exact_dy(s.n, s.height, s.width, s.channels, exact(dy));
  const auto y = normalised(exact_x, affine, s.activate);
  const auto gradients = backward(exact_x, exact_dy, affine, s.activate);

  const NormProblem problem{s.n, s.height * s.width, s.channels, s.groups, s.activate, epsilon, Type<T>::element};
  const int chunks = norm_chunks(problem);
  const OnDevice<T> images(x), slopes(dy);
  const OnDevice<float> gains(weight), offsets(bias), films(film);
  const float* rows = s.film ? films.data() : nullptr;
  OnDevice<T> result(x.size()), dx(x.size());
  OnDevice<float> statistics(static_cast<size_t>(2) * s.n * chunks * s.groups);
  OnDevice<float> partial(static_cast<size_t>(2) * s.n * chunks * s.channels), sums(gradients.sums.size());
  require(norm_forward(problem, images.data(), gains.data(), offsets.data(), rows, result.data(), statistics.data(),
                       nullptr));
  require(norm_backward(problem, images.data(), slopes.data(), gains.data(), offsets.data(), rows, statistics.data(),
                        partial.data(), sums.data(), dx.data(), nullptr));
  const auto name = std::string("normalisation, ") + Type<T>::name + ", " + std::to_string(s.channels) + " channels";
  report.compare(name, exact(result.read()), y.at, 2 * Type<T>::limit);
  report.compare(name + ", gradient", exact(dx.read()), gradients.dx.at, 2 * Type<T>::limit);
  report.compare(name + ", its sums", exact(sums.read()), gradients.sums, 2e-5);
}

}  // namespace

void check_normalisation(Report& report) {
  Random random(4);
  for (const auto& s : cases) {
    check_case<float>(report, random, s);
    check_case<__nv_bfloat16>(report, random, s);
    check_case<__half>(report, random, s);
  }
}

}  // namespace penumbra::cuda::check
