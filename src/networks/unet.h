/// The guided-diffusion U-Net with the noise level as its condition: the paper's score network, and ours.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "networks/layers.h"
#include "networks/network.h"

namespace penumbra {

/// The official configuration's options, under its names.
struct UNetOptions {
  /// What the given number is, and so how it is embedded.
  enum class Mode {
    sigma,     ///< Gaussian Fourier features of it
    timestep,  ///< sines and cosines of it at geometric frequencies
  };
  int64_t in_channels = 1, out_channels = 1;
  int64_t model_channels = 64;
  int64_t num_res_blocks = 1;
  std::vector<double> channel_mult{1, 2, 4, 8};
  std::vector<int64_t> attention_resolutions;  ///< down-sampling factors at which attention takes place
  Mode network_mode = Mode::sigma;
  bool use_embed = true;  ///< false: the given number is ignored
  double fourier_scale = 1;
  double dropout = 0;
  bool conv_resample = true;  ///< a convolution in up and down steps that are not residual blocks
  int64_t num_classes = 0;    ///< 0: none
  int64_t num_heads = 1;
  int64_t num_heads_upsample = -1;  ///< -1: num_heads
  int64_t num_head_channels = -1;   ///< -1: by num_heads
  bool use_scale_shift_norm = false;
  bool resblock_updown = false;
  bool use_new_attention_order = false;

  /// Throws InputError, with `name` for the file, on a wrong or unknown option. Options that do not change the function
  /// (use_checkpoint, use_fp16, image_size, name) are accepted.
  static UNetOptions from_json(const nlohmann::json& json, const std::string& name);
  nlohmann::json to_json() const;

  int64_t channels_at(size_t level) const {
    return static_cast<int64_t>(channel_mult[level] * static_cast<double>(model_channels));
  }
  /// Channels at full size.
  int64_t width() const { return channels_at(0); }
  /// Height and width must be multiples of this.
  int64_t size_factor() const { return int64_t{1} << (channel_mult.size() - 1); }
};

class UNet : public Network {
 public:
  UNet(const UNetOptions& options, const ParameterSource& source);

  /// The plain output: what the official code divides by sigma.
  Tensor operator()(const NetworkInput& input) const override;
  int64_t classes() const override { return options_.num_classes; }
  std::optional<double> operations(int64_t height, int64_t width) const override;

 private:
  /// What the noise level says to the blocks.
  struct Condition {
    Tensor embedding;  ///< activated
    Tensor films;      ///< undefined, or every block's layer of it: one product instead of many small ones
  };

  struct ResidualBlock {
    Resample resample = Resample::none;
    bool scale_shift = false;
    double dropout = 0;
    Normalization in_norm, out_norm;
    Convolution in_conv, out_conv;
    std::optional<Linear> embedding;
    int64_t film_start = 0;  ///< of the block's part of all blocks' embeddings
    std::optional<Convolution> skip;
    /// `parts` are the input's channels, one after the other.
    Features operator()(at::ArrayRef<Features> parts, const Condition& condition, bool drop) const;
  };

  /// One of the three, as the official list of modules holds them.
  struct Layer {
    std::optional<ResidualBlock> block;
    std::optional<Attention> attention;
    Resample resample = Resample::none;  ///< a plain step, with its convolution where it has one
    std::optional<Convolution> conv;
  };
  using Stage = std::vector<Layer>;

  /// What `build` keeps while it walks down and up again.
  struct Builder;

  /// Puts the blocks' layers of the embedding one below the other.
  void join_films();
  Condition embed(const Tensor& condition, const Tensor& labels) const;
  static Features run(const Stage& stage, std::vector<Features> parts, const Condition& condition, bool drop);

  UNetOptions options_;
  Tensor fourier_, label_table_;
  std::optional<Linear> embed_in_, embed_out_, films_;
  std::vector<Stage> down_, up_;
  Stage middle_;
  Normalization out_norm_;
  Convolution out_conv_;
};

}  // namespace penumbra
