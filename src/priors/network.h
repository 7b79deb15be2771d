/// A score network as a prior: weights from a file, what they mean from its header.
#pragma once

#include <filesystem>

#include "networks/header.h"
#include "priors/score.h"

namespace penumbra {

/// In which type a network computes.
enum class Compute {
  fastest,  ///< bfloat16 where the machine multiplies it faster and a test evaluation agrees with float32, else float32
  float32,
  bfloat16,
  float16,
};

/// A network with its weights, on its device.
struct LoadedNetwork {
  NetworkHeader header;
  ScoreNetwork network;
  int64_t parameters = 0;
  std::string weights;  ///< which dictionary of the file was taken, where there was a choice
};

/// Binds named tensors to the header's architecture. `file` stands for the file in messages.
ScoreNetwork bind_network(const NetworkHeader& header, const std::map<std::string, Tensor>& tensors, Compute compute,
                          const at::Device& device, const std::string& file);

class NetworkScore : public Score {
 public:
  /// `pixel_low`, `pixel_high`: the range in which the posterior's images are; the network's own is mapped to it.
  NetworkScore(LoadedNetwork loaded, double pixel_low, double pixel_high, std::optional<int64_t> label = {});

  SigmaRange sigma_range() const override;
  std::optional<std::pair<double, double>> pixel_range() const override { return pixel_range_; }
  bool takes_held_sigma() const override { return true; }
  const LoadedNetwork& loaded() const { return loaded_; }

 private:
  Tensor do_score(const Tensor& x, double sigma, const Cursor& at) const override;
  Tensor do_score_held(const Tensor& x, const Tensor& sigma) const override;
  Tensor do_denoise(const Tensor& x, double sigma, const Cursor& at) const override;
  Tensor do_denoise_held(const Tensor& x, const Tensor& sigma) const override;
  /// In one evaluation.
  Tensor do_denoise_each(const Tensor& x, const std::vector<double>& sigmas, const Cursor& at) const override;
  /// What the network is given: the image in its own range, float32, with its sigma and label.
  struct Given {
    Tensor x, sigma, labels;
  };
  /// `sigmas`: [chains], float32, in the network's own range.
  Given given(const Tensor& x, const Tensor& sigmas) const;
  Tensor same_for_all(const Tensor& x, double sigma) const;
  Tensor same_for_all(const Tensor& x, const Tensor& sigma) const;
  Tensor score_at(const Tensor& x, const Tensor& sigmas) const;
  Tensor denoise_at(const Tensor& x, const Tensor& sigmas) const;

  LoadedNetwork loaded_;
  std::pair<double, double> pixel_range_;
  double scale_, offset_;  ///< network's pixel = scale * pixel + offset
  std::optional<int64_t> label_;
};

/// "float32", "bfloat16" or "float16": in which the network behind a prior computes; none where there is no network.
std::optional<std::string> network_compute(const Score& prior);

/// The file of a prior that ships with Penumbra ("brain-256"): in $PENUMBRA_PRIORS, beside the installed program, or in
/// the source tree. Throws InputError that names the priors that are there.
std::filesystem::path shipped_prior(const std::string& name);

}  // namespace penumbra
