/// A(x) = x on the observed pixels: a mask of zeros and ones.
#include <ATen/ATen.h>

#include "core/error.h"
#include "core/random.h"
#include "io/npy.h"
#include "models/forward_model.h"

namespace penumbra {
namespace {

class Inpainting final : public ForwardModel {
 public:
  /// `observed`: the numbers of the observed pixels of the flattened image, [m].
  Inpainting(Shape image_shape, Tensor observed)
      : ForwardModel("inpainting", std::move(image_shape), {observed.size(0)}), observed_(std::move(observed)) {}
  bool linear() const override { return true; }

 private:
  Tensor do_apply(const Tensor& x) const override { return flat(x).index_select(1, observed_); }
  Tensor do_vjp(const Tensor& x, const Tensor& r) const override {
    return at::zeros_like(flat(x)).index_copy(1, observed_, r).view_as(x);
  }

  Tensor observed_;
};

/// One mask for every channel, or one a channel.
Tensor read_mask(const std::filesystem::path& path, const Shape& image_shape) {
  const auto mask = io::read_npy(path);
  const Shape plane(image_shape.begin() + 1, image_shape.end());
  if (mask.sizes() != at::IntArrayRef(image_shape) && mask.sizes() != at::IntArrayRef(plane))
    input_error("{}: expected a mask of {} or {}, found {}", path.string(), describe(plane), describe(image_shape),
                describe(mask.sizes()));
  if (mask.ne(0).logical_and(mask.ne(1)).any().item<bool>())
    input_error("{}: expected zeros and ones, found other numbers", path.string());
  return mask.to(at::kBool).expand(image_shape);
}

std::unique_ptr<ForwardModel> make(Settings& settings, const Shape& image_shape, const Placement& placement) {
  Tensor mask;
  if (settings.has("fraction")) {
    const double fraction = settings.number("fraction", {0, 1, true});
    const auto seed = static_cast<uint64_t>(settings.integer("mask_seed", 0, not_negative));
    Shape plane(image_shape);
    plane[0] = 1;
    const auto like = at::empty(plane, at::TensorOptions().dtype(at::kDouble));
    mask = (uniform({seed, 0, 0}, Stream::probe, like) < fraction).expand(image_shape);
  } else {
    mask = read_mask(settings.file("mask"), image_shape);
  }
  const auto observed = mask.flatten().nonzero().squeeze(1).to(placement.device);
  if (observed.size(0) == 0) settings.fail(settings.has("fraction") ? "fraction" : "mask", "no pixel is observed");
  return std::make_unique<Inpainting>(image_shape, observed);
}

}  // namespace

extern const ForwardModelEntry inpainting{"inpainting", "the observed pixels of a mask, from a file or at random",
                                          "{fraction: 0.5, mask_seed: 2}", make};

}  // namespace penumbra
