/// A problem with a small score network as its prior: 16x16 pixels, some of them measured.
#pragma once

#include <ATen/ATen.h>

#include "core/named.h"
#include "likelihoods/gaussian.h"
#include "likelihoods/interferometry.h"
#include "priors/network.h"
#include "samplers/posterior.h"
#include "support/random_weights.h"
#include "vlbi/golden.h"

namespace penumbra::test {

inline std::shared_ptr<const NetworkScore> small_network(const at::Device& device, Compute compute,
                                                         std::pair<double, double> pixels = {-1, 1}) {
  NetworkHeader header;
  header.name = "small";
  header.architecture = {{"kind", "unet"},
                         {"image_size", 16},
                         {"in_channels", 1},
                         {"out_channels", 1},
                         {"model_channels", 32},
                         {"num_res_blocks", 1},
                         {"channel_mult", {1, 2}},
                         {"attention_resolutions", {2}},
                         {"num_head_channels", 32},
                         {"resblock_updown", true},
                         {"use_scale_shift_norm", true}};
  header.parameterisation.kind = Parameterisation::Kind::score;
  header.sigma_low = 1e-4;
  header.sigma_high = 1e3;
  header.image_shape = {1, 16, 16};
  const auto weights = random_weights(Architecture(header.architecture, "small"));
  return std::make_shared<NetworkScore>(
      LoadedNetwork{header, bind_network(header, weights, compute, device, "small"), 0, {}}, pixels.first,
      pixels.second);
}

inline Tensor small_images(int64_t count, const at::Device& device) {
  return normal({7, 0, 0}, Stream::probe, at::empty({count, 1, 16, 16}, at::TensorOptions().dtype(at::kFloat)))
      .to(device);
}

inline Posterior small_posterior(const std::shared_ptr<const Score>& prior, const at::Device& device) {
  auto settings = Settings::from_text("{fraction: 0.4}", "test");
  std::shared_ptr<const ForwardModel> A =
      find_named(forward_model_entries(), "inpainting")->make(settings, prior->image_shape(), {at::kFloat, device});
  return {std::make_shared<GaussianLikelihood>(A, A->apply(small_images(1, device))[0], 0.1), prior};
}

/// Closures of five stations, of noise that differs from one to the next.
inline std::shared_ptr<const Likelihood> small_closures(const Shape& image, const at::Device& device) {
  auto observation = synthetic_observation(5, 3);
  for (size_t k = 0; k < observation.visibilities.size(); ++k)
    observation.visibilities[k].sd *= 1 + 0.1 * static_cast<double>(k % 7);
  const InterferometryOptions options{.grid = {image[1], image[2], 4 * vlbi::microarcsecond, vlbi::Pulse::triangle},
                                      .closure_phase = 1,
                                      .log_closure_amplitude = 1,
                                      .flux = InterferometryOptions::Flux{1, 30, 5},
                                      .position = InterferometryOptions::Position{1, 1e-10, 30}};
  return std::make_shared<InterferometryLikelihood>(image, observation, vlbi::form_closures(observation), options,
                                                    Placement{at::kFloat, device});
}

}  // namespace penumbra::test
