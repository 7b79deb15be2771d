/// A network of any architecture: an image and a number in, an image out.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "networks/parameters.h"

namespace penumbra {

/// G(x) = A^H (A x - y) / |A|^2: the gradient of the data's misfit for a batch of images, with a step of 1 stable.
using DataGradient = std::function<Tensor(const Tensor& x)>;

struct NetworkInput {
  Tensor x;                         ///< [N, C, H, W], float32; the network computes in the type of its parameters
  Tensor condition;                 ///< [N], float32; ignored by unconditional networks
  Tensor labels;                    ///< [N], int64, for class-conditional networks
  bool drop = false;                ///< dropout on: training
  DataGradient data_gradient = {};  ///< for networks that reconstruct; the others ignore it
};

class Network {
 public:
  virtual ~Network() = default;
  virtual Tensor operator()(const NetworkInput& input) const = 0;
  /// Classes that the labels may name; 0: none.
  virtual int64_t classes() const { return 0; }
  /// Floating-point operations for one image of this size, a multiplication and an addition being two; of matrix
  /// products and convolutions, beside which the rest is little. None where nobody counted.
  virtual std::optional<double> operations(int64_t /*height*/, int64_t /*width*/) const { return std::nullopt; }
};

/// An architecture's options, checked: `{"kind": "unet" | "dncnn" | "varnet", ...}`.
class Architecture {
 public:
  /// Throws InputError, with `name` for the file, on options that are wrong or unknown.
  Architecture(const nlohmann::json& options, const std::string& name);
  ~Architecture();
  Architecture(Architecture&&) noexcept;
  Architecture& operator=(Architecture&&) noexcept;

  std::vector<ParameterSpec> parameters() const;
  std::shared_ptr<const Network> make(const ParameterSource& source) const;
  int64_t channels() const;
  /// Channels inside the network, at the image's full size.
  int64_t width() const;
  /// Height and width must be multiples of this.
  int64_t size_factor() const;
  /// Every option, defaults included.
  nlohmann::json to_json() const;

 private:
  struct Kind;
  template <typename Options, typename Net>
  struct KindOf;
  std::unique_ptr<const Kind> kind_;
};

}  // namespace penumbra
