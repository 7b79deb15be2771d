/// What a network's output means: how it becomes the denoiser D and the score S = (D - x) / sigma^2.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "networks/network.h"

namespace penumbra {

struct Parameterisation {
  enum class Kind {
    score,           ///< S = F(x, sigma) / sigma: the paper's official code
    plain,           ///< S = F(x, sigma): the official code in its timestep mode
    karras,          ///< D = c_skip x + c_out F(c_in x, ln sigma), Karras et al. 2022: ours
    noise,           ///< D = x - F(x): DnCNN, of one fixed sigma
    reconstruction,  ///< F is the image itself, from data: no denoiser, no score
  };
  Kind kind = Kind::karras;
  double sigma_data = 0.5;  ///< the SD of the training pixels, karras only

  static Parameterisation from_json(const nlohmann::json& json, const std::string& name);
  nlohmann::json to_json() const;
};

/// The denoiser's coefficients at sigma [N], each [N, 1, 1, 1].
struct KarrasCoefficients {
  Tensor skip, out, in;
  KarrasCoefficients(const Tensor& sigma, double sigma_data);
};

/// A network together with what its output means; x and sigma [N] are float32.
struct ScoreNetwork {
  std::shared_ptr<const Network> network;
  Parameterisation parameterisation;
  at::ScalarType compute = at::kFloat;  ///< of the network's parameters, for reports
  at::MemoryFormat format = at::MemoryFormat::Contiguous;

  Tensor denoise(const Tensor& x, const Tensor& sigma, const Tensor& labels = {}, bool drop = false) const;
  Tensor score(const Tensor& x, const Tensor& sigma, const Tensor& labels = {}) const;
  /// The image of the data behind G, shaped like `like`, from x_0 = A^H y / |A|^2 = -G(0) on.
  Tensor reconstruct(const DataGradient& G, const Tensor& like) const;

 private:
  Tensor apply(const Tensor& x, const Tensor& condition, const Tensor& labels, bool drop) const;
};

}  // namespace penumbra
