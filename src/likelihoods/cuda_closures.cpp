#include "likelihoods/cuda_closures.h"

#include <ATen/ATen.h>

#include "core/cuda_device.h"
#include "core/error.h"

#ifdef PENUMBRA_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "likelihoods/closure_kernels.h"
#endif

namespace penumbra {

#ifndef PENUMBRA_CUDA

std::unique_ptr<const CudaClosures> cuda_closures(const vlbi::Closures& /*closures*/, double /*phase_weight*/,
                                                  double /*amplitude_weight*/, int64_t /*rows*/, double /*softening*/,
                                                  const Placement& /*placement*/) {
  return nullptr;
}

#else

namespace {

/// One kind of closures in the GPU's memory.
struct Held {
  Tensor integers, numbers;
  cuda::ClosureSet set{};

  template <size_t legs>
  Held(const std::vector<vlbi::Closure<legs> >& closures, double weight, int64_t rows, const at::Device& device) {
    if (!(weight > 0)) return;
    const auto count = closures.size();
    std::vector<int> entries;
    std::vector<std::vector<int> > by_row(static_cast<size_t>(rows));
    std::vector<float> values, precisions;
    const auto with_sign = [](int64_t i, int sign) { return sign >= 0 ? static_cast<int>(i) : ~static_cast<int>(i); };
    for (size_t i = 0; i < count; ++i) {
      const auto& closure = closures[i];
      for (size_t leg = 0; leg < legs; ++leg) {
        entries.push_back(with_sign(closure.rows[leg], closure.signs[leg]));
        by_row[static_cast<size_t>(closure.rows[leg])].push_back(
            with_sign(static_cast<int64_t>(i), closure.signs[leg]));
      }
      values.push_back(static_cast<float>(closure.value));
      precisions.push_back(static_cast<float>(weight / (closure.sd * closure.sd)));
    }
    std::vector<int> first{0}, list;
    for (const auto& closures_of_row : by_row) {
      list.insert(list.end(), closures_of_row.begin(), closures_of_row.end());
      first.push_back(static_cast<int>(list.size()));
    }
    entries.insert(entries.end(), first.begin(), first.end());
    entries.insert(entries.end(), list.begin(), list.end());
    values.insert(values.end(), precisions.begin(), precisions.end());
    integers = at::tensor(entries, at::kInt).to(device);
    numbers = at::tensor(values, at::kFloat).to(device);
    set.count = static_cast<int>(count);
    set.legs_each = static_cast<int>(legs);
    set.legs = integers.data_ptr<int>();
    set.first = set.legs + count * legs;
    set.closures = set.first + first.size();
    set.y = numbers.data_ptr<float>();
    set.precision = set.y + count;
  }
};

class Kernel final : public CudaClosures {
 public:
  Kernel(const vlbi::Closures& closures, double phase_weight, double amplitude_weight, int64_t rows, double softening,
         const at::Device& device)
      : phases_(closures.phases, phase_weight, rows, device),
        amplitudes_(closures.amplitudes, amplitude_weight, rows, device),
        rows_(static_cast<int>(rows)),
        softening_(static_cast<float>(softening)) {}

  Result operator()(const Tensor& V) const override {
    const c10::cuda::CUDAGuard on(V.device());
    const auto in = V.contiguous();
    Result result{at::empty({in.size(1)}, in.options()), at::empty_like(in)};
    const char* error = cuda::closure_pull({rows_, static_cast<int>(in.size(1)), softening_}, phases_.set,
                                           amplitudes_.set, in.data_ptr<float>(), result.energy.data_ptr<float>(),
                                           result.pull.data_ptr<float>(), c10::cuda::getCurrentCUDAStream().stream());
    if (error != nullptr) machine_error("CUDA: closures: {}", error);
    return result;
  }

 private:
  Held phases_, amplitudes_;
  int rows_;
  float softening_;
};

}  // namespace

std::unique_ptr<const CudaClosures> cuda_closures(const vlbi::Closures& closures, double phase_weight,
                                                  double amplitude_weight, int64_t rows, double softening,
                                                  const Placement& placement) {
  constexpr size_t most_memory = 48 << 10;
  if (!kernels_run_on(placement.device) || placement.precision != at::kFloat ||
      !(phase_weight > 0 || amplitude_weight > 0) ||
      cuda::closure_memory(static_cast<int>(rows), static_cast<int>(closures.phases.size()),
                           static_cast<int>(closures.amplitudes.size())) > most_memory)
    return nullptr;
  return std::make_unique<Kernel>(closures, phase_weight, amplitude_weight, rows, softening, placement.device);
}

#endif

}  // namespace penumbra
