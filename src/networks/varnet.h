/// The end-to-end variational network (Sriram et al. 2020): unrolled gradient steps on the data, each with a learned
/// correction. Its R_t are small U-Nets of their own, without attention or normalisation: the score network's class
/// attends at its coarsest level whatever its options, and cannot have fewer than 32 channels.
#pragma once

#include "networks/layers.h"
#include "networks/network.h"

namespace penumbra {

struct VarNetOptions {
  int64_t in_channels = 1;
  int64_t cascades = 6;                       ///< T
  int64_t model_channels = 32;                ///< of every correction, at full size
  std::vector<double> channel_mult{1, 2, 2};  ///< a factor for each level; every level halves the sides

  /// Throws InputError, with `name` for the file, on a wrong or unknown option.
  static VarNetOptions from_json(const nlohmann::json& json, const std::string& name);
  nlohmann::json to_json() const;

  int64_t channels_at(size_t level) const {
    return static_cast<int64_t>(channel_mult[level] * static_cast<double>(model_channels));
  }
  int64_t width() const { return channels_at(0); }
  int64_t size_factor() const { return int64_t{1} << (channel_mult.size() - 1); }
};

class VarNet : public Network {
 public:
  VarNet(const VarNetOptions& options, const ParameterSource& source);
  /// x_T of x <- x - eta_t G(x) + R_t(x) from x_0 = input.x. The iterates and G are float32 whatever R_t computes in.
  Tensor operator()(const NetworkInput& input) const override;

 private:
  /// x + conv(silu(conv(silu(x)))).
  struct Block {
    Convolution first, second;
    Block(const ParameterSource& source, const std::string& name, int64_t channels);
    Tensor operator()(const Tensor& x) const;
  };
  struct Level {
    Block down;
    Convolution coarser, finer;  ///< to the level below and back
    Block up;
  };
  /// R_t: down and up again, features of the same size added; the last layer starts at zero.
  struct Correction {
    Convolution in, out;
    std::vector<Level> levels;
    std::vector<Block> bottom;  ///< one
    Correction(const VarNetOptions& options, const ParameterSource& source, const std::string& name);
    Tensor operator()(const Tensor& x) const;
  };
  struct Cascade {
    Tensor eta;  ///< [1]
    Correction correction;
  };
  std::vector<Cascade> cascades_;
};

}  // namespace penumbra
