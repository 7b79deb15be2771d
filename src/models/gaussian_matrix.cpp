/// Compressed sensing: A(x) = A x with i.i.d. entries N(0, 1/m), m = floor(ratio n), as the authors' code.
///
/// Entry (i, j) depends on (matrix_seed, i, j) alone, so the matrix is held where it fits and drawn again, block by
/// block of rows, where it does not. What is kept are standard normal numbers G; A = G / sqrt(m). `storage` rounds G
/// once (half types by 2^-12 or 2^-9 of an entry); products with it are made in the precision of x, so that the adjoint
/// is the transpose of what `apply` does to that precision's rounding.
#include <ATen/ATen.h>
#include <torch/version.h>

#include <functional>

#include "core/random.h"
#include "models/forward_model.h"
#include "models/ratio_setting.h"

namespace penumbra {
namespace {

struct Options {
  int64_t m = 0;
  uint64_t seed = 0;
  at::ScalarType storage = at::kFloat;
  bool held = true;
};

/// Rows [first, first + count) of G: of the matrix itself where it is held in the precision asked for, else a copy.
using Use = std::function<void(int64_t first, const Tensor& rows)>;

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 8)
#define PENUMBRA_HALF_PRODUCTS
/// a G with a in float32 and G in a half type, both multiplied as they are, sums in float32. Each row of a is scaled to
/// [-1, 1] and split into two half numbers, a = high + low, which keeps 2^-22 (float16) or 2^-16 (bfloat16) of it.
Tensor half_product(const Tensor& a, const Tensor& G) {
  const auto scale = a.abs().amax(1, true).clamp_min(1e-30);
  const auto unit = a / scale;
  const auto high = unit.to(G.scalar_type());
  const auto low = (unit - high.to(at::kFloat)).to(G.scalar_type());
  const auto product = at::mm(at::cat({high, low}), G, at::kFloat);
  return (product.narrow(0, 0, a.size(0)) + product.narrow(0, a.size(0), a.size(0))) * scale;
}
#endif

class GaussianMatrix final : public ForwardModel {
 public:
  GaussianMatrix(Shape image_shape, Options options, const Placement& placement)
      : ForwardModel("gaussian", std::move(image_shape), {options.m}),
        options_(options),
        device_(placement.device),
        n_(element_count(this->image_shape())),
        scale_(1 / std::sqrt(static_cast<double>(options.m))) {
    if (!options_.held) return;
    held_ = at::empty({options_.m, n_}, at::TensorOptions().dtype(options_.storage).device(device_));
    for (int64_t first = 0; first < options_.m; first += block())
      held_.narrow(0, first, count(first)).copy_(draw(first));
  }
  bool linear() const override { return true; }

 private:
  Tensor do_apply(const Tensor& x) const override {
    const auto rows = flat(x);
#ifdef PENUMBRA_HALF_PRODUCTS
    if (multiplies_half(rows)) return half_product(rows, held_.t()) * scale_;
#endif
    auto y = at::empty({rows.size(0), options_.m}, rows.options());
    in_blocks(rows, [&](int64_t first, const Tensor& G) { y.narrow(1, first, G.size(0)).copy_(rows.matmul(G.t())); });
    return y * scale_;
  }
  Tensor do_vjp(const Tensor& x, const Tensor& r) const override {
#ifdef PENUMBRA_HALF_PRODUCTS
    if (multiplies_half(r)) return (half_product(r, held_) * scale_).view_as(x);
#endif
    auto sum = at::zeros({r.size(0), n_}, r.options());
    in_blocks(r, [&](int64_t first, const Tensor& G) { sum.addmm_(r.narrow(1, first, G.size(0)), G); });
    return (sum * scale_).view_as(x);
  }

  bool multiplies_half(const Tensor& a) const {
    return held_.defined() && a.is_cuda() && a.scalar_type() == at::kFloat && held_.element_size() == 2;
  }

  void in_blocks(const Tensor& like, const Use& use) const {
    if (held_.defined() && held_.scalar_type() == like.scalar_type()) return use(0, held_);
    for (int64_t first = 0; first < options_.m; first += block()) {
      const auto rows = held_.defined() ? held_.narrow(0, first, count(first)) : draw(first).to(options_.storage);
      use(first, rows.to(like.device(), like.scalar_type()));
    }
  }

  /// Rows that are made at once: 16 million numbers, 64 MB in float32.
  int64_t block() const { return std::max<int64_t>(1, (int64_t{1} << 24) / n_); }
  int64_t count(int64_t first) const { return std::min(block(), options_.m - first); }
  Tensor draw(int64_t first) const {
    const auto wide = options_.storage == at::kDouble ? at::kDouble : at::kFloat;
    return normal({options_.seed, first, 0}, Stream::probe,
                  at::empty({count(first), n_}, at::TensorOptions().dtype(wide)));
  }

  Options options_;
  at::Device device_;
  int64_t n_;
  double scale_;
  Tensor held_;  ///< G, [m, n], in the storage's type; undefined where it is drawn again
};

/// Half precision on a GPU, where the matrix is read from memory at every step; the run's own on a CPU.
at::ScalarType storage_setting(Settings& settings, const Placement& placement) {
  const auto word = settings.choice("storage", {"auto", "float32", "float16", "bfloat16"}, "auto");
  if (word == "float16") return at::kHalf;
  if (word == "bfloat16") return at::kBFloat16;
  if (word == "float32") return at::kFloat;
  return placement.device.is_cuda() ? at::kHalf : placement.precision;
}

std::unique_ptr<ForwardModel> make(Settings& settings, const Shape& image_shape, const Placement& placement) {
  const auto n = element_count(image_shape);
  Options options;
  options.m = measurement_count(settings, n, 4294967295);
  options.seed = static_cast<uint64_t>(settings.integer("matrix_seed", 0, not_negative));
  options.storage = storage_setting(settings, placement);
  const double megabytes = settings.number("memory_megabytes", 8192, not_negative);
  const double needed = static_cast<double>(options.m) * static_cast<double>(n) *
                        static_cast<double>(c10::elementSize(options.storage)) / 1048576;
  options.held = needed <= megabytes;
  return std::make_unique<GaussianMatrix>(image_shape, options, placement);
}

}  // namespace

extern const ForwardModelEntry gaussian_matrix{"gaussian", "compressed sensing: an i.i.d. Gaussian matrix, N(0, 1/m)",
                                               "{ratio: 0.3, matrix_seed: 3}", make};

}  // namespace penumbra
