/// The measurement operator A of y = A(x) + e: physics only, no data, no noise, no prior.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/settings.h"
#include "core/tensor.h"

namespace penumbra {

class ForwardModel {
 public:
  ForwardModel(std::string name, Shape image_shape, Shape data_shape);
  virtual ~ForwardModel() = default;

  /// A(x), [chains, image] -> [chains, data].
  Tensor apply(const Tensor& x) const;

  /// J_A(x)^T r, shaped like x; for a linear model the adjoint, whatever x is.
  Tensor vjp(const Tensor& x, const Tensor& r) const;

  virtual bool linear() const = 0;

  /// |A|^2, the largest eigenvalue of A^T A, where a formula gives it.
  virtual std::optional<double> norm_squared() const { return std::nullopt; }

  const std::string& name() const { return name_; }
  const Shape& image_shape() const { return image_shape_; }
  const Shape& data_shape() const { return data_shape_; }

 private:
  virtual Tensor do_apply(const Tensor& x) const = 0;
  /// Default: automatic differentiation of do_apply. Override where a formula is faster.
  virtual Tensor do_vjp(const Tensor& x, const Tensor& r) const;

  std::string name_;
  Shape image_shape_, data_shape_;
};

/// Registers a forward model: `extern const ForwardModelEntry inpainting{...}` in the model's own file is enough.
struct ForwardModelEntry {
  std::string name;
  std::string summary;
  /// A small configuration (YAML) for a 1x6x5 image, on which the contract tests run; empty where a file is needed.
  std::string example;
  std::unique_ptr<ForwardModel> (*make)(Settings& settings, const Shape& image_shape, const Placement& placement);
};

const std::vector<const ForwardModelEntry*>& forward_model_entries();

}  // namespace penumbra
