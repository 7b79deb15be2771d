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

std::unique_ptr<const CudaClosures> cuda_closures(const vlbi::Closures& /*closures*/,
                                                  const std::vector<double>& /*sds*/,
                                                  const CudaClosureOptions& /*options*/,
                                                  const Placement& /*placement*/) {
  return nullptr;
}

#else

namespace {

/// One kind of closures in the GPU's memory.
struct Held {
  Tensor integers, values, precisions;
  double weight;
  GrowingVariance variance;
  cuda::ClosureSet set{};

  template <size_t legs>
  Held(const std::vector<vlbi::Closure<legs> >& closures, const std::vector<double>& sds, double weight,
       const Placement& placement)
      : weight(weight) {
    if (!(weight > 0)) return;
    const auto count = closures.size();
    std::vector<int> entries;
    std::vector<std::vector<int> > by_row(sds.size());
    std::vector<float> y;
    const auto with_sign = [](int64_t i, int sign) { return sign >= 0 ? static_cast<int>(i) : ~static_cast<int>(i); };
    for (size_t i = 0; i < count; ++i) {
      const auto& closure = closures[i];
      for (size_t leg = 0; leg < legs; ++leg) {
        entries.push_back(with_sign(closure.rows[leg], closure.signs[leg]));
        by_row[static_cast<size_t>(closure.rows[leg])].push_back(
            with_sign(static_cast<int64_t>(i), closure.signs[leg]));
      }
      y.push_back(static_cast<float>(closure.value));
    }
    std::vector<int> first{0}, list;
    for (const auto& closures_of_row : by_row) {
      list.insert(list.end(), closures_of_row.begin(), closures_of_row.end());
      first.push_back(static_cast<int>(list.size()));
    }
    entries.insert(entries.end(), first.begin(), first.end());
    entries.insert(entries.end(), list.begin(), list.end());
    integers = at::tensor(entries, at::kInt).to(placement.device);
    values = at::tensor(y, at::kFloat).to(placement.device);
    set.count = static_cast<int>(count);
    set.legs_each = static_cast<int>(legs);
    set.legs = integers.data_ptr<int>();
    set.first = set.legs + count * legs;
    set.closures = set.first + first.size();
    set.y = values.data_ptr<float>();
    weigh(closure_variances(closures, sds, placement));
  }

  Held with(const MoreNoise& more) const {
    auto noisier = *this;
    if (set.count > 0) noisier.weigh(variance.with(more));
    return noisier;
  }

 private:
  void weigh(GrowingVariance by) {
    variance = std::move(by);
    precisions = weight / variance.own;
    set.precision = precisions.data_ptr<float>();
  }
};

class Kernel final : public CudaClosures {
 public:
  Kernel(Held phases, Held amplitudes, size_t rows, double softening)
      : phases_(std::move(phases)),
        amplitudes_(std::move(amplitudes)),
        rows_(static_cast<int>(rows)),
        softening_(static_cast<float>(softening)) {}

  std::unique_ptr<const CudaClosures> with(const MoreNoise& more) const override {
    auto noisier = std::make_unique<Kernel>(*this);
    noisier->phases_ = phases_.with(more);
    noisier->amplitudes_ = amplitudes_.with(more);
    return noisier;
  }

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

std::unique_ptr<const CudaClosures> cuda_closures(const vlbi::Closures& closures, const std::vector<double>& sds,
                                                  const CudaClosureOptions& options, const Placement& placement) {
  constexpr size_t most_memory = 48 << 10;
  if (!kernels_run_on(placement.device) || placement.precision != at::kFloat ||
      !(options.phase_weight > 0 || options.amplitude_weight > 0) ||
      cuda::closure_memory(static_cast<int>(sds.size()), static_cast<int>(closures.phases.size()),
                           static_cast<int>(closures.amplitudes.size())) > most_memory)
    return nullptr;
  return std::make_unique<Kernel>(Held(closures.phases, sds, options.phase_weight, placement),
                                  Held(closures.amplitudes, sds, options.amplitude_weight, placement), sds.size(),
                                  options.softening);
}

#endif

}  // namespace penumbra
