#include "networks/feature_kernels.h"

#include "kernels/check.cuh"
#include "kernels/reference.h"

namespace penumbra::cuda::check {
namespace {

struct Shape {
  int n, height, width, channels;
};

// Fewer pixels than a block takes, odd sides, channels that leave threads over, more channels than threads.
constexpr Shape shapes[] = {{1, 2, 2, 8}, {3, 6, 10, 40}, {2, 34, 26, 64}, {5, 4, 2, 264}, {1, 6, 2, 2048}};
constexpr Shape odd_shapes[] = {{2, 1, 1, 16}, {2, 7, 5, 24}, {1, 33, 31, 96}};
constexpr Resample resamples[] = {Resample::none, Resample::up, Resample::down};

// Sums run over many roundings: SDs of what is summed are near 1, means too.
constexpr double sum_limit = 1e-5;

std::string named(const char* what, const char* type, const Shape& s) {
  return std::string(what) + ", " + type + ", " + std::to_string(s.n) + " x " + std::to_string(s.height) + " x " +
         std::to_string(s.width) + " x " + std::to_string(s.channels);
}

template <typename T>
Batch batch_of(const Shape& s, const std::vector<T>& numbers) {
  return {s.n, s.height, s.width, s.channels, exact(numbers)};
}

void add_to_channels(Batch& x, const Numbers& shift) {
  for_all(x, [&](int i, int y, int column, int c) { x(i, y, column, c) += shift[c]; });
}

/// Sums of the kernel that only sums.
template <typename T>
std::vector<float> summed(const Shape& s, const OnDevice<T>& x, const OnDevice<T>& shift, int& chunks) {
  const Images images{s.n, s.height, s.width, s.channels, Type<T>::element};
  chunks = sum_chunks(images);
  OnDevice<float> sums(static_cast<size_t>(2) * s.n * chunks * s.channels);
  require(sum_channels(images, x.data(), shift.data(), sums.data(), nullptr));
  return sums.read();
}

template <typename T>
void check_sums(Report& report, Random& random, const Shape& s) {
  const auto x = random.normal<T>(static_cast<size_t>(s.n) * s.height * s.width * s.channels, 0.5);
  const auto shift = random.normal<T>(s.channels);
  auto reference = batch_of(s, x);
  add_to_channels(reference, exact(shift));
  int chunks = 0;
  const auto sums = summed(s, OnDevice<T>(x), OnDevice<T>(shift), chunks);
  report.compare(named("sums", Type<T>::name, s), over_chunks(sums, s.n, chunks, 2 * s.channels),
                 channel_sums(reference), sum_limit);
}

template <typename T>
void check_addition(Report& report, Random& random, const Shape& s, Resample how, bool biased) {
  const Shape from{s.n,
                   how == Resample::up     ? s.height / 2
                   : how == Resample::down ? 2 * s.height
                                           : s.height,
                   how == Resample::up     ? s.width / 2
                   : how == Resample::down ? 2 * s.width
                                           : s.width,
                   s.channels};
  const auto a = random.normal<T>(static_cast<size_t>(from.n) * from.height * from.width * from.channels);
  const auto b = random.normal<T>(static_cast<size_t>(s.n) * s.height * s.width * s.channels, 0.5);
  const auto bias = random.normal<T>(s.channels);
  auto reference = resampled(batch_of(from, a), how);
  for (size_t i = 0; i < reference.at.size(); ++i) reference.at[i] += as_number(b[i]);
  if (biased) add_to_channels(reference, exact(bias));

  const Images images{s.n, s.height, s.width, s.channels, Type<T>::element};
  const int chunks = sum_chunks(images);
  const OnDevice<T> first(a), second(b), added(bias);
  OnDevice<float> sums(static_cast<size_t>(2) * s.n * chunks * s.channels);
  require(add_images(images, how, first.data(), second.data(), biased ? added.data() : nullptr, sums.data(), nullptr));
  report.compare(named("addition", Type<T>::name, s), exact(second.read()), reference.at, Type<T>::limit);
  // Summed before they are rounded to their type.
  report.compare(named("addition's sums", Type<T>::name, s), over_chunks(sums.read(), s.n, chunks, 2 * s.channels),
                 channel_sums(reference), sum_limit);
}

/// Two tensors normalised together, as a skip connection and what it meets.
template <typename T>
void check_parts(Report& report, Random& random, const Shape& s, int more, Resample how, bool activate) {
  const int channels = s.channels + more;
  const Shape other{s.n, s.height, s.width, more};
  const size_t pixels = static_cast<size_t>(s.n) * s.height * s.width;
  const auto x = random.normal<T>(pixels * s.channels, 0.5), y = random.normal<T>(pixels * more, -1, 2);
  const auto shift = random.normal<T>(s.channels), no_shift = std::vector<T>(more, T(0.f));
  const auto weight = random.normal<float>(channels, 1, 0.3), bias = random.normal<float>(channels);
  const auto film = random.normal<float>(static_cast<size_t>(2) * s.n * channels, 0, 0.3);
  const int groups = channels / 8;
  constexpr float epsilon = 1e-5f;

  auto first = batch_of(s, x);
  add_to_channels(first, exact(shift));
  const auto second = batch_of(other, y);
  Batch whole(s.n, s.height, s.width, channels);
  for_all(whole, [&](int i, int row, int column, int c) {
    whole(i, row, column, c) = c < s.channels ? first(i, row, column, c) : second(i, row, column, c - s.channels);
  });
  const Affine64 affine{exact(weight), exact(bias), exact(film), groups, epsilon};
  const auto reference = resampled(normalised(whole, affine, activate), how);

  const OnDevice<T> part_x(x), part_y(y), shift_x(shift), shift_y(no_shift);
  const OnDevice<float> gains(weight), offsets(bias), films(film);
  int chunks_x = 0, chunks_y = 0;
  const OnDevice<float> sums_x(summed(s, part_x, shift_x, chunks_x)), sums_y(summed(other, part_y, shift_y, chunks_y));
  OnDevice<float> map(static_cast<size_t>(2) * s.n * channels);
  require(norm_map(s.n, s.height * s.width, {sums_x.data(), chunks_x, s.channels}, {sums_y.data(), chunks_y, more},
                   {gains.data(), offsets.data(), films.data(), 2 * channels, groups, epsilon}, map.data(), nullptr));
  OnDevice<T> result(reference.at.size());
  NormTarget target{channels, 0, activate, how};
  require(apply_map({s.n, s.height, s.width, s.channels, Type<T>::element}, target, part_x.data(), shift_x.data(),
                    map.data(), result.data(), nullptr));
  target.first_channel = s.channels;
  require(apply_map({s.n, s.height, s.width, more, Type<T>::element}, target, part_y.data(), nullptr, map.data(),
                    result.data(), nullptr));
  report.compare(named("normalisation of parts", Type<T>::name, s), exact(result.read()), reference.at,
                 2 * Type<T>::limit);
}

template <typename T>
void check_type(Report& report, Random& random) {
  for (const auto& s : shapes) {
    check_sums<T>(report, random, s);
    for (const auto how : resamples) check_addition<T>(report, random, s, how, how != Resample::up);
    if (s.channels >= 2048) continue;
    for (const auto how : resamples) check_parts<T>(report, random, s, 16, how, how != Resample::down);
  }
  for (const auto& s : odd_shapes) {
    check_sums<T>(report, random, s);
    check_addition<T>(report, random, s, Resample::none, true);
    check_addition<T>(report, random, s, Resample::down, true);
    check_parts<T>(report, random, s, 8, Resample::none, true);
    check_parts<T>(report, random, s, 8, Resample::up, true);
  }
}

}  // namespace

void check_features(Report& report) {
  Random random(1);
  check_type<float>(report, random);
  check_type<__nv_bfloat16>(report, random);
  check_type<__half>(report, random);
}

}  // namespace penumbra::cuda::check
