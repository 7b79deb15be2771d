/// Compressed sensing without a matrix: A = sqrt(n/m) R T P D over the flattened image, for large images and CPUs.
///
/// D: random signs; P: a random permutation (Hadamard only); T: an orthonormal DCT or Walsh-Hadamard transform; R: m of
/// the n rows, at random. E |A x|^2 = |x|^2 as for the Gaussian matrix, and |A|^2 = n/m exactly.
#include <ATen/ATen.h>

#include <bit>

#include "core/random.h"
#include "models/forward_model.h"
#include "models/random_order.h"
#include "models/ratio_setting.h"

namespace penumbra {
namespace {

/// An orthonormal transform of the rows of [chains, n].
class Transform {
 public:
  virtual ~Transform() = default;
  virtual Tensor forward(const Tensor& rows) const = 0;
  virtual Tensor inverse(const Tensor& rows) const = 0;
};

/// DCT-II by one complex FFT of the same length: the even samples forwards, then the odd ones backwards, make the
/// cosine sums the real parts of turned Fourier coefficients (Makhoul 1980). The inverse undoes each of these steps.
class Dct final : public Transform {
 public:
  Dct(int64_t n, const Placement& placement) : n_(n) {
    const auto numbers = at::arange(n, at::TensorOptions().dtype(at::kLong));
    order_ = at::cat({numbers.slice(0, 0, n, 2), numbers.slice(0, 1, n, 2).flip(0)}).to(placement.device);
    const auto angle = numbers.to(at::kDouble) * (-M_PI / (2 * static_cast<double>(n)));
    turn_ = at::complex(place(angle.cos(), placement), place(angle.sin(), placement));
    auto scale = at::full({n}, std::sqrt(2 / static_cast<double>(n)), angle.options());
    scale[0] = std::sqrt(1 / static_cast<double>(n));
    scale_ = place(scale, placement);
  }
  Tensor forward(const Tensor& rows) const override {
    return at::real(at::fft_fft(rows.index_select(1, order_)) * turn_) * scale_;
  }
  Tensor inverse(const Tensor& rows) const override {
    // The imaginary part that `forward` dropped is minus the coefficient of n - k.
    const auto c = rows / scale_;
    const auto mirrored = at::cat({at::zeros_like(c.narrow(1, 0, 1)), c.narrow(1, 1, n_ - 1).flip(1)}, 1);
    const auto samples = at::real(at::fft_ifft(at::complex(c, -mirrored) * turn_.conj()));
    return at::empty_like(samples).index_copy_(1, order_, samples);
  }

 private:
  int64_t n_;
  Tensor order_, turn_, scale_;
};

/// 2^a x 2^b: H_n = H_a (x) H_b, so that two products with small matrices make the whole transform.
class Hadamard final : public Transform {
 public:
  Hadamard(int64_t n, const Placement& placement) {
    const int bits = std::countr_zero(static_cast<uint64_t>(n));
    left_ = place(matrix(bits / 2), placement);
    right_ = place(matrix(bits - bits / 2), placement);
  }
  Tensor forward(const Tensor& rows) const override {
    return left_.matmul(rows.view({rows.size(0), left_.size(0), right_.size(0)}).matmul(right_)).flatten(1);
  }
  Tensor inverse(const Tensor& rows) const override { return forward(rows); }

 private:
  static Tensor matrix(int bits) {
    auto H = at::ones({1, 1}, at::TensorOptions().dtype(at::kDouble));
    for (int bit = 0; bit < bits; ++bit) H = at::cat({at::cat({H, H}, 1), at::cat({H, -H}, 1)}) * std::sqrt(0.5);
    return H;
  }
  Tensor left_, right_;
};

class SubsampledTransform final : public ForwardModel {
 public:
  struct Parts {
    Tensor signs, permutation, rows;  ///< [n]; [n] or undefined; [m]
    std::unique_ptr<Transform> transform;
  };
  SubsampledTransform(Shape image_shape, Parts parts)
      : ForwardModel("subsampled_transform", std::move(image_shape), {parts.rows.size(0)}),
        parts_(std::move(parts)),
        scale_(std::sqrt(*norm_squared())) {}
  bool linear() const override { return true; }
  std::optional<double> norm_squared() const override {
    return static_cast<double>(parts_.signs.size(0)) / static_cast<double>(parts_.rows.size(0));
  }

 private:
  Tensor do_apply(const Tensor& x) const override {
    auto mixed = flat(x) * parts_.signs;
    if (parts_.permutation.defined()) mixed = mixed.index_select(1, parts_.permutation);
    return parts_.transform->forward(mixed).index_select(1, parts_.rows) * scale_;
  }
  Tensor do_vjp(const Tensor& x, const Tensor& r) const override {
    auto mixed = parts_.transform->inverse(at::zeros_like(flat(x)).index_copy_(1, parts_.rows, r * scale_));
    if (parts_.permutation.defined()) mixed = at::empty_like(mixed).index_copy_(1, parts_.permutation, mixed);
    return (mixed * parts_.signs).view_as(x);
  }

  Parts parts_;
  double scale_;
};

/// +1 or -1, [n].
Tensor random_signs(int64_t n, const Cursor& at) {
  const auto numbers = uniform(at, Stream::probe, at::empty({1, n}, at::TensorOptions().dtype(at::kDouble)))[0];
  return at::where(numbers < 0.5, 1.0, -1.0);
}

std::unique_ptr<ForwardModel> make(Settings& settings, const Shape& image_shape, const Placement& placement) {
  const auto n = element_count(image_shape);
  const auto m = measurement_count(settings, n, n);
  const auto seed = static_cast<uint64_t>(settings.integer("matrix_seed", 0, not_negative));
  const bool hadamard = settings.choice("transform", {"dct", "hadamard"}, "dct") == "hadamard";
  if (hadamard && !std::has_single_bit(static_cast<uint64_t>(n)))
    settings.fail("transform", fmt::format("hadamard needs a power of two pixels, found {} in {}; expected dct", n,
                                           describe(image_shape)));
  SubsampledTransform::Parts parts;
  parts.rows = std::get<0>(random_order(n, {seed, 0, 0}).narrow(0, 0, m).sort()).to(placement.device);
  parts.signs = place(random_signs(n, {seed, 0, 1}), placement);
  if (hadamard) parts.permutation = random_order(n, {seed, 0, 2}).to(placement.device);
  if (hadamard)
    parts.transform = std::make_unique<Hadamard>(n, placement);
  else
    parts.transform = std::make_unique<Dct>(n, placement);
  return std::make_unique<SubsampledTransform>(image_shape, std::move(parts));
}

}  // namespace

extern const ForwardModelEntry subsampled_transform{
    "subsampled_transform", "compressed sensing: random rows of a randomised DCT or Hadamard transform",
    "{ratio: 0.4, matrix_seed: 2}", make};

}  // namespace penumbra
