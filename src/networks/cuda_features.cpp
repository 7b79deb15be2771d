#include "networks/cuda_features.h"

#include <ATen/ATen.h>

#include "core/error.h"

#ifdef PENUMBRA_CUDA
#include <c10/core/GradMode.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>

#include "networks/feature_kernels.h"
#include "networks/kernel_types.h"
#endif

namespace penumbra {

#ifndef PENUMBRA_CUDA

namespace {
[[noreturn]] void refuse() { machine_error("CUDA: this build has no kernels"); }
}  // namespace

bool cuda_add_serves(const Tensor& /*a*/, const Tensor& /*b*/, const Tensor& /*bias*/, Resample /*resample*/) {
  return false;
}
Features cuda_add(const Tensor& /*a*/, Tensor /*b*/, const Tensor& /*bias*/, Resample /*resample*/) { refuse(); }
bool cuda_parts_serve(at::ArrayRef<Features> /*parts*/) { return false; }
bool cuda_parts_norm_serves(at::ArrayRef<Features> /*parts*/, const NormalizationTerms& /*terms*/) { return false; }
Tensor cuda_normalise_parts(at::ArrayRef<Features> /*parts*/, const NormalizationTerms& /*terms*/) { refuse(); }
bool cuda_skip_serves(at::ArrayRef<Features> /*parts*/, const Tensor& /*weight*/, const Tensor& /*bias*/,
                      const Features& /*change*/) {
  return false;
}
Features cuda_skip(at::ArrayRef<Features> /*parts*/, const Tensor& /*weight*/, const Tensor& /*bias*/,
                   const Features& /*change*/) {
  refuse();
}
bool cuda_first_convolution_serves(const Tensor& /*x*/, const Tensor& /*weight*/, const Tensor& /*bias*/,
                                   const Tensor& /*like*/) {
  return false;
}
Features cuda_first_convolution(const Tensor& /*x*/, const Tensor& /*weight*/, const Tensor& /*bias*/,
                                const Tensor& /*like*/) {
  refuse();
}
bool cuda_last_convolution_serves(const Features& /*x*/, const NormalizationTerms& /*terms*/,
                                  const Tensor& /*weight*/) {
  return false;
}
Tensor cuda_last_convolution(const Features& /*x*/, const NormalizationTerms& /*terms*/, const Tensor& /*weight*/,
                             const Tensor& /*bias*/) {
  refuse();
}

#else

namespace {

void require_done(const char* error) {
  if (error != nullptr) machine_error("CUDA: operation on pixels: {}", error);
}

cudaStream_t stream() { return c10::cuda::getCurrentCUDAStream().stream(); }

const void* data_of(const Tensor& x) { return x.defined() ? x.data_ptr() : nullptr; }

const float* floats_of(const Tensor& x) { return x.defined() ? x.data_ptr<float>() : nullptr; }

int as_int(int64_t extent) { return static_cast<int>(extent); }

cuda::Images images_of(const Tensor& x) {
  return {as_int(x.size(0)), as_int(x.size(2)), as_int(x.size(3)), as_int(x.size(1)), element_of(x.scalar_type())};
}

Tensor empty_images(const Tensor& like, int64_t channels, int64_t height, int64_t width, at::ScalarType type) {
  return at::empty({like.size(0), channels, height, width},
                   like.options().dtype(type).memory_format(at::MemoryFormat::ChannelsLast));
}

Tensor empty_sums(const Tensor& like, int64_t chunks, int64_t channels) {
  return at::empty({like.size(0), chunks, channels, 2}, like.options().dtype(at::kFloat).memory_format({}));
}

Tensor sums_of(const Features& x) {
  if (x.sums.defined()) return x.sums;
  const auto images = images_of(x.value);
  auto sums = empty_sums(x.value, cuda::sum_chunks(images), x.value.size(1));
  require_done(cuda::sum_channels(images, x.value.data_ptr(), data_of(x.bias), sums.data_ptr<float>(), stream()));
  return sums;
}

cuda::NormPart part_of(const Tensor& sums) {
  return {sums.data_ptr<float>(), as_int(sums.size(1)), as_int(sums.size(2))};
}

/// Gain and offset of every image's channels.
Tensor map_of(at::ArrayRef<Features> parts, const NormalizationTerms& terms) {
  const auto first = sums_of(parts[0]), second = parts.size() > 1 ? sums_of(parts[1]) : Tensor();
  const auto& x = parts[0].value;
  const auto channels = terms.weight.numel();
  // A part of a wider tensor is read where it is.
  const auto film = !terms.film.defined() || terms.film.stride(1) == 1 ? terms.film : terms.film.contiguous();
  auto map = at::empty({x.size(0), channels, 2}, terms.weight.options());
  require_done(cuda::norm_map(
      as_int(x.size(0)), as_int(x.size(2) * x.size(3)), part_of(first),
      second.defined() ? part_of(second) : cuda::NormPart{nullptr, 0, 0},
      {floats_of(terms.weight), floats_of(terms.bias), floats_of(film), film.defined() ? as_int(film.stride(0)) : 0,
       as_int(terms.groups), static_cast<float>(terms.epsilon)},
      map.data_ptr<float>(), stream()));
  return map;
}

}  // namespace

bool cuda_add_serves(const Tensor& a, const Tensor& b, const Tensor& bias, Resample resample) {
  if (c10::GradMode::is_enabled() || !kernels_take(a) || !kernels_take(b) || a.scalar_type() != b.scalar_type() ||
      a.device() != b.device() || a.size(0) != b.size(0) || a.size(1) != b.size(1) || !is_bias_of(bias, b))
    return false;
  const auto fits = [&](int64_t from, int64_t to) {
    return resample == Resample::up ? 2 * from == to : resample == Resample::down ? from == 2 * to : from == to;
  };
  return fits(a.size(2), b.size(2)) && fits(a.size(3), b.size(3));
}

Features cuda_add(const Tensor& a, Tensor b, const Tensor& bias, Resample resample) {
  const c10::cuda::CUDAGuard on(b.device());
  const auto images = images_of(b);
  auto sums = empty_sums(b, cuda::sum_chunks(images), b.size(1));
  require_done(cuda::add_images(images, resample_of(resample), a.data_ptr(), b.data_ptr(), data_of(bias),
                                sums.data_ptr<float>(), stream()));
  return {b, {}, sums};
}

bool cuda_parts_serve(at::ArrayRef<Features> parts) {
  if (c10::GradMode::is_enabled() || parts.empty() || parts.size() > 2) return false;
  int64_t channels = 0;
  const auto& first = parts[0].value;
  for (const auto& [x, bias, sums] : parts) {
    if (!kernels_take(x) || x.scalar_type() != first.scalar_type() || x.device() != first.device() ||
        x.size(0) != first.size(0) || x.size(2) != first.size(2) || x.size(3) != first.size(3) || !is_bias_of(bias, x))
      return false;
    channels += x.size(1);
  }
  return channels <= most_channels;
}

bool cuda_parts_norm_serves(at::ArrayRef<Features> parts, const NormalizationTerms& terms) {
  if (!cuda_parts_serve(parts)) return false;
  const auto& x = parts[0].value;
  int64_t channels = 0;
  for (const auto& part : parts) channels += part.value.size(1);
  if (!terms_fit(terms, x.size(0), channels)) return false;
  return terms.resample != Resample::down || (x.size(2) % 2 == 0 && x.size(3) % 2 == 0);
}

Tensor cuda_normalise_parts(at::ArrayRef<Features> parts, const NormalizationTerms& terms) {
  const auto& like = parts[0].value;
  const c10::cuda::CUDAGuard on(like.device());
  const auto map = map_of(parts, terms);
  const auto size = [&](int64_t extent) {
    return terms.resample == Resample::up ? 2 * extent : terms.resample == Resample::down ? extent / 2 : extent;
  };
  auto y = empty_images(like, terms.weight.numel(), size(like.size(2)), size(like.size(3)), like.scalar_type());
  cuda::NormTarget target{as_int(y.size(1)), 0, terms.activate, resample_of(terms.resample)};
  for (const auto& [x, bias, sums] : parts) {
    require_done(cuda::apply_map(images_of(x), target, x.data_ptr(), data_of(bias), map.data_ptr<float>(), y.data_ptr(),
                                 stream()));
    target.first_channel += as_int(x.size(1));
  }
  return y;
}

bool cuda_skip_serves(at::ArrayRef<Features> parts, const Tensor& weight, const Tensor& bias, const Features& change) {
  if (!cuda_parts_serve(parts) || !kernels_take(change.value) || !is_bias_of(change.bias, change.value) ||
      !is_bias_of(bias, change.value))
    return false;
  const auto &x = parts[0].value, &b = change.value;
  const auto second = parts.size() > 1 ? parts[1].value.size(1) : 0;
  const bool whole = std::none_of(parts.begin(), parts.end(), [](const Features& f) { return f.bias.defined(); });
  return whole && cuda::skip_knows(as_int(x.size(1)), as_int(second), element_of(x.scalar_type())) &&
         b.scalar_type() == x.scalar_type() && b.device() == x.device() && b.size(0) == x.size(0) &&
         b.size(2) == x.size(2) && b.size(3) == x.size(3) && weight.scalar_type() == x.scalar_type() &&
         weight.dim() == 4 && weight.size(0) == b.size(1) && weight.size(1) == x.size(1) + second &&
         weight.size(2) == 1 && weight.size(3) == 1 && is_aligned(weight);
}

Features cuda_skip(at::ArrayRef<Features> parts, const Tensor& weight, const Tensor& bias, const Features& change) {
  const auto& b = change.value;
  const c10::cuda::CUDAGuard on(b.device());
  const auto images = images_of(b);
  auto sums = empty_sums(b, cuda::skip_chunks(images), b.size(1));
  const auto part = [&](size_t i) -> cuda::ImagePart {
    if (i >= parts.size()) return {nullptr, 0};
    return {parts[i].value.data_ptr(), as_int(parts[i].value.size(1))};
  };
  const auto matrix = weight.flatten(1).contiguous();
  const auto added = change.bias.defined() ? (bias.defined() ? change.bias + bias : change.bias) : bias;
  require_done(cuda::add_skip(images, part(0), part(1), matrix.data_ptr(), data_of(added), b.data_ptr(),
                              sums.data_ptr<float>(), stream()));
  return {b, {}, sums};
}

bool cuda_first_convolution_serves(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& like) {
  const auto floats = [&](const Tensor& t) {
    return t.is_cuda() && t.device() == x.device() && t.scalar_type() == at::kFloat;
  };
  return !c10::GradMode::is_enabled() && floats(x) && floats(weight) && floats(bias) && kernels_run_on(x.device()) &&
         kernels_know(like.scalar_type()) && like.suggest_memory_format() == at::MemoryFormat::ChannelsLast &&
         x.dim() == 4 && x.size(0) <= most_images && x.size(1) == 1 && x.numel() > 0 && bias.is_contiguous() &&
         bias.numel() == weight.size(0) && weight.size(1) == 1 && weight.size(2) == 3 && weight.size(3) == 3 &&
         weight.size(0) % vector_width == 0 && weight.size(0) <= most_channels &&
         cuda::first_convolution_knows(as_int(weight.size(0)), as_int(x.size(3)));
}

Features cuda_first_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& like) {
  const c10::cuda::CUDAGuard on(x.device());
  auto y = empty_images(x, weight.size(0), x.size(2), x.size(3), like.scalar_type());
  const auto images = images_of(y);
  auto sums = empty_sums(x, cuda::first_chunks(images), y.size(1));
  // One channel: rows follow rows in every memory format, once the strides say so.
  const auto image = x.contiguous(), taps = weight.contiguous();
  require_done(cuda::first_convolution(images, image.data_ptr<float>(), taps.data_ptr<float>(), bias.data_ptr<float>(),
                                       y.data_ptr(), sums.data_ptr<float>(), stream()));
  return {y, {}, sums};
}

bool cuda_last_convolution_serves(const Features& x, const NormalizationTerms& terms, const Tensor& weight) {
  return cuda_parts_norm_serves(x, terms) && !x.bias.defined() && terms.activate && terms.resample == Resample::none &&
         cuda::last_convolution_knows(as_int(x.value.size(1)), element_of(x.value.scalar_type())) &&
         weight.size(0) == 1 && weight.size(1) == x.value.size(1) && weight.size(2) == 3 && weight.size(3) == 3;
}

Tensor cuda_last_convolution(const Features& x, const NormalizationTerms& terms, const Tensor& weight,
                             const Tensor& bias) {
  const c10::cuda::CUDAGuard on(x.value.device());
  const auto map = map_of(x, terms);
  const auto images = images_of(x.value);
  const auto options = x.value.options().dtype(at::kFloat).memory_format({});
  const auto n = x.value.size(0), height = x.value.size(2), width = x.value.size(3);
  auto products = at::empty({n, 9, height, width}, options), y = at::empty({n, 1, height, width}, options);
  const auto taps = weight.to(at::kFloat).contiguous(), shift = bias.to(at::kFloat);
  require_done(cuda::last_convolution(images, x.value.data_ptr(), map.data_ptr<float>(), taps.data_ptr<float>(),
                                      shift.data_ptr<float>(), products.data_ptr<float>(), y.data_ptr<float>(),
                                      stream()));
  return y;
}

#endif

}  // namespace penumbra
