#include "models/dense.h"

#include <ATen/ATen.h>

#include "core/error.h"
#include "io/npy.h"

namespace penumbra {

DenseModel::DenseModel(Shape image_shape, Tensor matrix)
    : ForwardModel("dense", std::move(image_shape), {matrix.size(0)}), matrix_(std::move(matrix)) {
  if (matrix_.dim() != 2 || matrix_.size(1) != element_count(this->image_shape()))
    input_error("dense: expected a matrix with {} columns, one a pixel, found {}", element_count(this->image_shape()),
                describe(matrix_.sizes()));
}

Tensor DenseModel::do_apply(const Tensor& x) const { return flat(x).matmul(matrix_.t()); }

Tensor DenseModel::do_vjp(const Tensor& x, const Tensor& r) const { return r.matmul(matrix_).view_as(x); }

Tensor dense_matrix(const ForwardModel& model, const Placement& placement) {
  if (!model.linear()) input_error("{}: only a linear model has a matrix", model.name());
  const auto n = element_count(model.image_shape());
  Shape shape = model.image_shape();
  shape.insert(shape.begin(), n);
  const auto pixels = at::eye(n, at::TensorOptions().dtype(placement.precision).device(placement.device));
  return flat(model.apply(pixels.reshape(shape))).t().contiguous();
}

namespace {

std::unique_ptr<ForwardModel> make(Settings& settings, const Shape& image_shape, const Placement& placement) {
  const auto n = element_count(image_shape);
  const auto path = settings.file("matrix");
  const auto matrix = io::read_npy(path);
  if (matrix.dim() != 2 || matrix.size(1) != n || matrix.is_complex())
    input_error("{}: expected a real matrix with {} columns, one a pixel of {}, found {}", path.string(), n,
                describe(image_shape), describe(matrix.sizes()));
  if (!matrix.isfinite().all().item<bool>()) input_error("{}: expected finite numbers", path.string());
  return std::make_unique<DenseModel>(image_shape, place(matrix, placement));
}

}  // namespace

extern const ForwardModelEntry dense{"dense", "a matrix over the flattened image, from a file", "", make};

}  // namespace penumbra
