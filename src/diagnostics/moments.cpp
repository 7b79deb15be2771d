#include "diagnostics/moments.h"

#include <ATen/ATen.h>

#include <limits>

#include "core/error.h"

namespace penumbra::diagnostics {

namespace {

/// All chains at once: on a GPU the launches would cost more than the sums.
void add_to_all(const Tensor& x, int64_t records, Tensor& means, Tensor& within) {
  const auto values = x.detach().to(at::kDouble);
  const auto delta = values - means;
  means += delta / static_cast<double>(records);
  within += (delta * (values - means)).sum(0);
}

}  // namespace

void RunningMoments::add(const Tensor& x) {
  if (x.dim() < 2) input_error("moments: expected [chains, ...], found {}", describe(x.sizes()));
  if (records_ == 0) {
    chain_means_ = at::zeros(x.sizes(), x.options().dtype(at::kDouble));
    within_ = at::zeros(x.sizes().slice(1), x.options().dtype(at::kDouble));
  } else if (x.sizes() != chain_means_.sizes()) {
    input_error("moments: expected {}, as in the earlier records, found {}", describe(chain_means_.sizes()),
                describe(x.sizes()));
  }
  ++records_;
  if (x.is_cuda()) {
    // A state that was restored is still on the CPU.
    chain_means_ = chain_means_.to(x.device());
    within_ = within_.to(x.device());
    return add_to_all(x, records_, chain_means_, within_);
  }
  const auto values = x.detach().to(at::kDouble);
  // Chain by chain, and one rounding per operation: the bits do not depend on the number of threads.
  for (int64_t chain = 0; chain < x.size(0); ++chain) {
    auto mean = chain_means_[chain];
    const auto delta = values[chain] - mean;
    mean += delta / static_cast<double>(records_);
    within_ += delta * (values[chain] - mean);
  }
}

int64_t RunningMoments::chains() const { return records_ == 0 ? 0 : chain_means_.size(0); }

Tensor RunningMoments::mean() const { return chain_means().mean(0); }

Tensor RunningMoments::sd() const {
  const auto deviations = chain_means() - mean();
  const auto within = within_.cpu();
  if (count() < 2) return at::full_like(within, std::numeric_limits<double>::quiet_NaN());
  const auto squares = within + static_cast<double>(records_) * deviations.square().sum(0);
  return (squares / static_cast<double>(count() - 1)).sqrt();
}

Tensor RunningMoments::chain_means() const {
  if (records_ == 0) input_error("moments: no iterate was recorded; record before the run ends");
  return chain_means_.cpu();
}

std::map<std::string, Tensor> RunningMoments::state() const {
  std::map<std::string, Tensor> state{{"records", at::scalar_tensor(records_, at::kLong)}};
  if (records_ == 0) return state;
  state["chain_means"] = chain_means_.cpu().clone();
  state["within"] = within_.cpu().clone();
  return state;
}

void RunningMoments::restore(const std::map<std::string, Tensor>& state) {
  const auto part = [&](const std::string& name) {
    const auto found = state.find(name);
    if (found == state.end())
      input_error("moments: the saved state has no '{}'; it was written by something else", name);
    return found->second;
  };
  records_ = part("records").item<int64_t>();
  if (records_ == 0) return;
  chain_means_ = part("chain_means").to(at::kCPU, at::kDouble).clone();
  within_ = part("within").to(at::kCPU, at::kDouble).clone();
}

}  // namespace penumbra::diagnostics
