#include "app/experiments/interferometry/network.h"

#include <fmt/format.h>

#include "io/checksum.h"
#include "io/file.h"

namespace penumbra::app::interferometry {

Network read_network(const ExperimentOptions& options, const Placement& placement) {
  const std::string name = options.prior.empty() ? "blackhole-64" : options.prior;
  auto settings = Settings::from_text("{kind: network}", "--prior");
  settings.set_default("name", name);
  Network network{name, make_prior(settings, placement), ""};
  const auto range = network.prior->pixel_range();
  if (network.prior->image_shape()[0] != 1 || !range || *range != std::pair(0.0, 1.0))
    input_error("--prior: expected a prior of one channel with pixels in [0, 1], as blackhole-64, found {}", name);
  for (const auto& file : settings.files()) network.digest += io::format_checksum(io::checksum(io::read_file(file)));
  return network;
}

}  // namespace penumbra::app::interferometry
