#include "models/mri.h"

#include <ATen/ATen.h>

#include "core/error.h"

namespace penumbra {
namespace {

/// The last two dimensions cropped or padded with zeros to [height, width], the centre [n/2] staying the centre.
Tensor fit(Tensor x, int64_t height, int64_t width) {
  for (const auto& [dim, size] : {std::pair<int64_t, int64_t>{x.dim() - 2, height}, {x.dim() - 1, width}}) {
    const auto from = x.size(dim);
    if (from > size) x = x.narrow(dim, from / 2 - size / 2, size);
    if (from >= size) continue;
    auto shape = x.sizes().vec();
    shape[static_cast<size_t>(dim)] = size;
    auto padded = at::zeros(shape, x.options());
    padded.narrow(dim, size / 2 - from / 2, from).copy_(x);
    x = padded;
  }
  return x;
}

Tensor turned(const Tensor& x, const MriOrientation& orientation) {
  const auto turned = orientation.quarter_turns ? x.rot90(orientation.quarter_turns, {-2, -1}) : x;
  return orientation.flip ? turned.flip({-1}) : turned;
}

Tensor turned_back(const Tensor& x, const MriOrientation& orientation) {
  const auto straight = orientation.flip ? x.flip({-1}) : x;
  return orientation.quarter_turns ? straight.rot90(-orientation.quarter_turns, {-2, -1}) : straight;
}

Tensor centre_to_corner(const Tensor& x) { return x.roll({-(x.size(-2) / 2), -(x.size(-1) / 2)}, {-2, -1}); }
Tensor corner_to_centre(const Tensor& x) { return x.roll({x.size(-2) / 2, x.size(-1) / 2}, {-2, -1}); }

std::vector<int64_t> with_last(const Tensor& x, int64_t dropped, std::vector<int64_t> last) {
  auto shape = x.sizes().vec();
  shape.resize(shape.size() - static_cast<size_t>(dropped));
  shape.insert(shape.end(), last.begin(), last.end());
  return shape;
}

Shape measured_shape(const MriOptions& options) {
  return {options.coils.defined() ? options.coils.size(0) : 1, options.mask.sum().item<int64_t>()};
}

}  // namespace

MriModel::MriModel(Shape image_shape, const MriOptions& options, const Placement& placement)
    : ForwardModel("mri", std::move(image_shape), measured_shape(options)),
      height_(options.mask.size(0)),
      width_(options.mask.size(1)),
      orientation_(options.orientation),
      gain_(options.gain) {
  const auto channels = this->image_shape()[0];
  if (channels != 1 && channels != 2)
    input_error("mri: expected images of one channel (real) or two (real and imaginary part), found {}", channels);
  if (data_shape()[1] == 0) input_error("mri: mask: no point of k-space is measured");
  if (options.coils.defined() && options.coils.sizes().slice(1) != options.mask.sizes())
    input_error("mri: coils: expected maps of {}, as the mask's, found {}", describe(options.mask.sizes()),
                describe(options.coils.sizes().slice(1)));
  measured_ = options.mask.flatten().nonzero().squeeze(1).to(placement.device);
  const auto row = at::div(measured_, width_, "floor"), column = measured_ - row * width_;
  unshifted_ = (row + (height_ + 1) / 2).remainder(height_) * width_ + (column + (width_ + 1) / 2).remainder(width_);
  if (options.coils.defined()) maps_ = options.coils;
  if (options.phase.defined()) phase_ = place(options.phase, placement);
  if (options.phase.defined()) maps_ = maps_.defined() ? maps_ * options.phase : options.phase.unsqueeze(0);
  if (maps_.defined()) maps_ = centre_to_corner(place(maps_, placement)).contiguous();
}

Tensor MriModel::do_apply(const Tensor& x) const {
  const auto image = x.size(1) == 2 ? at::complex(x.select(1, 0), x.select(1, 1)) : x.select(1, 0);
  // One shift of the image is cheaper than one of every coil's; the shift of k-space is in the order of its points.
  auto seen = centre_to_corner(gain_ * fit(turned(image, orientation_), height_, width_)).unsqueeze(1);
  if (maps_.defined()) seen = seen * maps_;
  return at::fft_fft2(seen, {}, {2, 3}, "ortho").flatten(2).index_select(2, unshifted_);
}

Tensor MriModel::do_vjp(const Tensor& /*x*/, const Tensor& r) const {
  const auto kspace = at::zeros({r.size(0), r.size(1), height_ * width_}, r.options()).index_copy(2, unshifted_, r);
  auto seen = at::fft_ifft2(kspace.view({r.size(0), r.size(1), height_, width_}), {}, {2, 3}, "ortho");
  if (maps_.defined()) seen = seen * maps_.conj();
  return from_scan(gain_ * corner_to_centre(seen.sum(1)));
}

Tensor MriModel::placed(const Tensor& scan) const {
  const auto& shape = image_shape();
  const bool swapped = orientation_.quarter_turns % 2 != 0;
  return turned_back(fit(scan, shape[swapped ? 2 : 1], shape[swapped ? 1 : 2]), orientation_);
}

Tensor MriModel::seen() const {
  const auto energy = maps_.defined() ? corner_to_centre(at::abs(maps_).square().sum(0, /*keepdim=*/true))
                                      : at::ones({1, height_, width_}, measured_.options().dtype(at::kFloat));
  return placed(energy)[0] > 0;
}

Tensor MriModel::from_scan(const Tensor& scan) const {
  const auto& shape = image_shape();
  const auto image = placed(scan);
  return shape[0] == 2 ? at::stack({at::real(image), at::imag(image)}, 1) : at::real(image).unsqueeze(1).contiguous();
}

Tensor MriModel::as_image(const Tensor& scan) const {
  const auto image = phase_.defined() ? scan * phase_.conj() : scan;
  return from_scan(image.unsqueeze(0) / gain_)[0];
}

Tensor MriModel::to_grid(const Tensor& data) const {
  const auto flat_grid = at::zeros(with_last(data, 1, {height_ * width_}), data.options());
  return flat_grid.index_copy(data.dim() - 1, measured_, data).view(with_last(data, 1, {height_, width_}));
}

Tensor MriModel::from_grid(const Tensor& grid) const {
  return grid.flatten(-2).index_select(grid.dim() - 2, measured_.to(grid.device()));
}

}  // namespace penumbra
