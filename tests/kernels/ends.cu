#include "kernels/check.cuh"
#include "kernels/reference.h"
#include "networks/feature_kernels.h"

namespace penumbra::cuda::check {
namespace {

struct Case {
  int n, height, width, channels;
};

constexpr Case cases[] = {{2, 1, 1, 32}, {1, 9, 7, 64}, {3, 18, 37, 96}, {1, 5, 130, 256}};

template <typename T>
std::string named(const char* what, const Case& s) {
  return std::string(what) + ", " + Type<T>::name + ", " + std::to_string(s.height) + " x " + std::to_string(s.width) +
         " x " + std::to_string(s.channels);
}

template <typename T>
void check_first(Report& report, Random& random, const Case& s) {
  const size_t pixels = static_cast<size_t>(s.n) * s.height * s.width;
  const auto x = random.normal<float>(pixels), weight = random.normal<float>(static_cast<size_t>(9) * s.channels);
  const auto bias = random.normal<float>(s.channels);
  const auto reference = convolved(Batch(s.n, s.height, s.width, 1, exact(x)), s.channels, exact(weight), exact(bias));
  const Images images{s.n, s.height, s.width, s.channels, Type<T>::element};
  const int chunks = first_chunks(images);
  const OnDevice<float> image(x), taps(weight), added(bias);
  OnDevice<T> y(reference.at.size());
  OnDevice<float> sums(static_cast<size_t>(2) * s.n * chunks * s.channels);
  require(first_convolution(images, image.data(), taps.data(), added.data(), y.data(), sums.data(), nullptr));
  report.compare(named<T>("first convolution", s), exact(y.read()), reference.at, Type<T>::limit);
  report.compare(named<T>("first convolution's sums", s), over_chunks(sums.read(), s.n, chunks, 2 * s.channels),
                 channel_sums(reference), 1e-5);
}

template <typename T>
void check_last(Report& report, Random& random, const Case& s) {
  const size_t pixels = static_cast<size_t>(s.n) * s.height * s.width;
  const auto x = random.normal<T>(pixels * s.channels);
  const auto map = random.normal<float>(static_cast<size_t>(2) * s.n * s.channels);
  // As the kernel rounds them.
  const auto weight = exact(random.normal<T>(static_cast<size_t>(9) * s.channels, 0, 0.1));
  const auto bias = random.normal<float>(1);
  Batch activated(s.n, s.height, s.width, s.channels, exact(x));
  for_all(activated, [&](int i, int y, int column, int c) {
    const size_t cell = 2 * (static_cast<size_t>(i) * s.channels + c);
    double& value = activated(i, y, column, c);
    value = silu(map[cell] * value + map[cell + 1]);
  });
  const auto reference = convolved(activated, 1, weight, exact(bias));
  const OnDevice<T> images(x);
  const OnDevice<float> gains(map), taps(std::vector<float>(weight.begin(), weight.end())), added(bias);
  OnDevice<float> products(9 * pixels), y(pixels);
  require(last_convolution({s.n, s.height, s.width, s.channels, Type<T>::element}, images.data(), gains.data(),
                           taps.data(), added.data(), products.data(), y.data(), nullptr));
  // Activations of 16 bits and more.
  report.compare(named<T>("last convolution", s), exact(y.read()), reference.at, 5e-5);
}

}  // namespace

void check_ends(Report& report) {
  Random random(3);
  for (const auto& s : cases) {
    check_first<float>(report, random, s);
    check_first<__nv_bfloat16>(report, random, s);
    check_first<__half>(report, random, s);
    check_last<__nv_bfloat16>(report, random, s);
    check_last<__half>(report, random, s);
  }
}

}  // namespace penumbra::cuda::check
