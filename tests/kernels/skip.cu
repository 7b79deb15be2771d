#include "kernels/check.cuh"
#include "kernels/reference.h"
#include "networks/feature_kernels.h"

namespace penumbra::cuda::check {
namespace {

struct Case {
  int n, height, width, first, second, channels;
};

// Part of a block's pixels and channels, both over an edge, one part alone, more slices than are ahead.
constexpr Case cases[] = {
    {2, 3, 5, 32, 32, 8}, {1, 17, 9, 64, 96, 136}, {2, 16, 8, 32, 0, 128}, {1, 11, 13, 256, 128, 72}};

template <typename T>
void check_case(Report& report, Random& random, const Case& s, bool biased) {
  const size_t pixels = static_cast<size_t>(s.n) * s.height * s.width;
  const int inputs = s.first + s.second;
  const auto x = random.normal<T>(pixels * s.first), y = random.normal<T>(pixels * s.second);
  const auto weight = random.normal<T>(static_cast<size_t>(s.channels) * inputs, 0, 1 / std::sqrt(inputs));
  const auto bias = random.normal<T>(s.channels), before = random.normal<T>(pixels * s.channels);

  Batch reference(s.n, s.height, s.width, s.channels, exact(before));
  for (size_t pixel = 0; pixel < pixels; ++pixel)
    for (int c = 0; c < s.channels; ++c) {
      double& sum = reference.at[pixel * s.channels + c];
      const T* row = &weight[static_cast<size_t>(c) * inputs];
      for (int k = 0; k < s.first; ++k)
        sum += static_cast<double>(as_number(row[k])) * as_number(x[pixel * s.first + k]);
      for (int k = 0; k < s.second; ++k)
        sum += static_cast<double>(as_number(row[s.first + k])) * as_number(y[pixel * s.second + k]);
      if (biased) sum += as_number(bias[c]);
    }

  const Images images{s.n, s.height, s.width, s.channels, Type<T>::element};
  const int chunks = skip_chunks(images);
  const OnDevice<T> one(x), matrix(weight), added(bias), result(before);
  const OnDevice<T> other(s.second > 0 ? y : std::vector<T>(1));
  OnDevice<float> sums(static_cast<size_t>(2) * s.n * chunks * s.channels);
  require(add_skip(images, {one.data(), s.first}, {s.second > 0 ? other.data() : nullptr, s.second}, matrix.data(),
                   biased ? added.data() : nullptr, result.data(), sums.data(), nullptr));
  const auto name = std::string("skip, ") + Type<T>::name + ", " + std::to_string(s.first) + " + " +
                    std::to_string(s.second) + " to " + std::to_string(s.channels);
  report.compare(name, exact(result.read()), reference.at, Type<T>::limit);
  report.compare(name + ", sums", over_chunks(sums.read(), s.n, chunks, 2 * s.channels), channel_sums(reference), 1e-5);
}

}  // namespace

void check_skip(Report& report) {
  Random random(2);
  for (const auto& s : cases) {
    check_case<__nv_bfloat16>(report, random, s, s.second > 0);
    check_case<__half>(report, random, s, true);
  }
}

}  // namespace penumbra::cuda::check
