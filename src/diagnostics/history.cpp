#include "diagnostics/history.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/error.h"

namespace penumbra::diagnostics {
namespace {

Tensor allocate(int64_t records, at::IntArrayRef ensemble) {
  auto shape = ensemble.vec();
  shape.insert(shape.begin(), records);
  return at::empty(shape, at::kFloat);
}

}  // namespace

History::History(int64_t max_bytes, int64_t min_records) : max_bytes_(max_bytes), min_records_(min_records) {
  if (max_bytes < 0) input_error("history: max_bytes is {}; expected 0 or more", max_bytes);
  if (min_records < 2) input_error("history: min_records is {}; expected 2 or more", min_records);
}

// Even, so that after thinning the newest record is still there.
int64_t History::capacity(at::IntArrayRef shape) const {
  const int64_t bytes = 4 * std::max<int64_t>(element_count(shape.vec()), 1);
  const auto fit = max_bytes_ / bytes / 2 * 2;
  return std::max(fit, (min_records_ + 1) / 2 * 2);
}

void History::thin() {
  for (int64_t i = 0; 2 * i + 1 < records_; ++i) store_[i].copy_(store_[2 * i + 1]);
  records_ /= 2;
  stride_ *= 2;
}

void History::add(const Tensor& x) {
  if (!store_.defined()) {
    store_ = allocate(capacity(x.sizes()), x.sizes());
  } else if (x.sizes() != store_.sizes().slice(1)) {
    input_error("history: expected {}, as in the earlier records, found {}", describe(store_.sizes().slice(1)),
                describe(x.sizes()));
  }
  if (++offers_ % stride_ != 0) return;
  // An offer that comes due while the store is full is number records * stride + stride: odd, so the new stride skips
  // it.
  if (records_ == store_.size(0)) return thin();
  store_[records_++].copy_(x.detach());
}

Tensor History::draws() const {
  if (records_ == 0) input_error("history: no iterate was recorded; record before the run ends");
  return store_.narrow(0, 0, records_);
}

std::map<std::string, Tensor> History::state() const {
  std::map<std::string, Tensor> state{{"offers", at::scalar_tensor(offers_, at::kLong)},
                                      {"stride", at::scalar_tensor(stride_, at::kLong)}};
  if (store_.defined()) state["draws"] = store_.narrow(0, 0, records_).clone();
  return state;
}

void History::restore(const std::map<std::string, Tensor>& state) {
  const auto part = [&](const std::string& name) {
    const auto found = state.find(name);
    if (found == state.end())
      input_error("history: the saved state has no '{}'; it was written by something else", name);
    return found->second;
  };
  offers_ = part("offers").item<int64_t>();
  stride_ = part("stride").item<int64_t>();
  records_ = 0;
  store_ = Tensor();
  if (offers_ == 0) return;
  auto saved = part("draws");
  store_ = allocate(capacity(saved.sizes().slice(1)), saved.sizes().slice(1));
  for (; saved.size(0) > store_.size(0); stride_ *= 2) saved = saved.slice(0, 1, saved.size(0), 2);
  records_ = saved.size(0);
  store_.narrow(0, 0, records_).copy_(saved);
}

}  // namespace penumbra::diagnostics
