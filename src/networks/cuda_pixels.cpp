#include "networks/cuda_pixels.h"

#include <ATen/ATen.h>

#include "core/error.h"

#ifdef PENUMBRA_CUDA
#include <c10/core/GradMode.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "networks/kernel_types.h"
#include "networks/pixel_kernels.h"
#endif

namespace penumbra {

#ifndef PENUMBRA_CUDA

bool cuda_add_serves(const Tensor& /*a*/, const Tensor& /*b*/, Resample /*resample*/) { return false; }

Tensor cuda_add(const Tensor& /*a*/, Tensor /*b*/, const Tensor& /*bias*/, Resample /*resample*/) {
  machine_error("CUDA: this build has no kernels");
}

bool cuda_first_convolution_serves(const Tensor& /*x*/, const Tensor& /*weight*/, const Tensor& /*bias*/,
                                   const Tensor& /*like*/) {
  return false;
}

Tensor cuda_first_convolution(const Tensor& /*x*/, const Tensor& /*weight*/, const Tensor& /*bias*/,
                              const Tensor& /*like*/) {
  machine_error("CUDA: this build has no kernels");
}

#else

namespace {

constexpr int64_t vector_width = 8, most_channels = 2048;

bool is_plain(const Tensor& x) {
  return x.is_cuda() && kernels_know(x.scalar_type()) && x.dim() == 4 && x.numel() > 0 &&
         x.size(1) % vector_width == 0 && x.is_contiguous(at::MemoryFormat::ChannelsLast) &&
         reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0;
}

void require_done(const char* error) {
  if (error != nullptr) machine_error("CUDA: operation on pixels: {}", error);
}

int as_int(int64_t extent) { return static_cast<int>(extent); }

}  // namespace

bool cuda_add_serves(const Tensor& a, const Tensor& b, Resample resample) {
  if (c10::GradMode::is_enabled() || !is_plain(a) || !is_plain(b) || a.scalar_type() != b.scalar_type() ||
      a.device() != b.device() || a.size(0) != b.size(0) || a.size(1) != b.size(1))
    return false;
  const auto fits = [&](int64_t from, int64_t to) {
    return resample == Resample::up ? 2 * from == to : resample == Resample::down ? from == 2 * to : from == to;
  };
  return fits(a.size(2), b.size(2)) && fits(a.size(3), b.size(3));
}

Tensor cuda_add(const Tensor& a, Tensor b, const Tensor& bias, Resample resample) {
  const c10::cuda::CUDAGuard on(b.device());
  const cuda::AddProblem problem{as_int(b.size(0)), as_int(b.size(2)),           as_int(b.size(3)),
                                 as_int(b.size(1)), element_of(b.scalar_type()), resample_of(resample)};
  require_done(cuda::add_images(problem, a.data_ptr(), b.data_ptr(), bias.defined() ? bias.data_ptr() : nullptr,
                                c10::cuda::getCurrentCUDAStream().stream()));
  return b;
}

bool cuda_first_convolution_serves(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& like) {
  const auto floats = [&](const Tensor& t) {
    return t.is_cuda() && t.device() == x.device() && t.scalar_type() == at::kFloat;
  };
  return !c10::GradMode::is_enabled() && floats(x) && floats(weight) && floats(bias) &&
         kernels_know(like.scalar_type()) && like.suggest_memory_format() == at::MemoryFormat::ChannelsLast &&
         x.dim() == 4 && x.size(1) == 1 && x.numel() > 0 && weight.size(1) == 1 && weight.size(2) == 3 &&
         weight.size(3) == 3 && weight.size(0) % vector_width == 0 && weight.size(0) <= most_channels;
}

Tensor cuda_first_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& like) {
  const c10::cuda::CUDAGuard on(x.device());
  const cuda::FirstConvolution problem{as_int(x.size(0)), as_int(x.size(2)), as_int(x.size(3)), as_int(weight.size(0)),
                                       element_of(like.scalar_type())};
  auto y = at::empty({x.size(0), weight.size(0), x.size(2), x.size(3)},
                     x.options().dtype(like.scalar_type()).memory_format(at::MemoryFormat::ChannelsLast));
  // One channel: rows follow rows in every memory format, once the strides say so.
  const auto image = x.contiguous(), taps = weight.contiguous();
  require_done(cuda::first_convolution(problem, image.data_ptr<float>(), taps.data_ptr<float>(), bias.data_ptr<float>(),
                                       y.data_ptr(), c10::cuda::getCurrentCUDAStream().stream()));
  return y;
}

#endif

}  // namespace penumbra
