#include "priors/reconstruction.h"

#include <ATen/ATen.h>

#include "io/weights.h"
#include "priors/network.h"

namespace penumbra {

Reconstructor::Reconstructor(Settings& settings) {
  if (settings.has("name") == settings.has("file"))
    settings.fail("file", "expected either a file of weights or the name of a network that ships with Penumbra");
  const auto* key = settings.has("name") ? "name" : "file";
  const auto path = settings.has("name") ? shipped_prior(settings.text("name")) : settings.file("file");
  if (settings.has("name")) settings.note_file(path);
  file_ = path.string();
  auto weights = io::read_weights(path);
  if (weights.header.is_null())
    settings.fail(key, fmt::format("{}: expected a network that penumbra train wrote for task.kind: reconstruction, "
                                   "found weights without a header",
                                   file_));
  header_ = NetworkHeader::from_json(weights.header, file_, weights.pixel_sd_file);
  if (!header_.reconstructs())
    settings.fail(key, fmt::format("{}: a denoiser, not a reconstruction network; expected prior.kind: network with "
                                   "this file, or a file of task.kind: reconstruction",
                                   file_));
  tensors_ = std::move(weights.tensors);
  const Architecture architecture(header_.architecture, file_);
  require_parameters(tensors_, architecture.parameters(), file_);
  const auto& shape = header_.image_shape;
  const auto factor = architecture.size_factor();
  if (shape[0] != architecture.channels() || shape[1] % factor != 0 || shape[2] % factor != 0)
    settings.fail(key, fmt::format("{}: expected images of {} channels and sides that are multiples of {}, found {}",
                                   file_, architecture.channels(), factor, describe(shape)));
  short_type_ = settings.choice("compute", {"float32", "bfloat16"}, "float32") == "bfloat16";
}

Tensor Reconstructor::operator()(const DataGradient& G, const Tensor& like) const {
  const auto compute = short_type_ ? Compute::bfloat16 : Compute::float32;
  const auto network = bind_network(header_, tensors_, compute, like.device(), file_);
  // The network computes in float32; the data keep their precision.
  const auto own = [&](const Tensor& x) { return G(x.to(like.scalar_type())).to(at::kFloat); };
  return network.reconstruct(own, like).to(like.scalar_type());
}

}  // namespace penumbra
