#include "app/experiments/interferometry/network.h"

#include <fmt/format.h>

#include "io/checksum.h"
#include "io/file.h"

namespace penumbra::app::interferometry {

Network read_network(const Placement& placement) {
  const auto settings = Settings::from_text(fmt::format("{{kind: network, name: {}}}", prior_name), prior_name);
  Network network{make_prior(settings, placement), ""};
  for (const auto& file : settings.files()) network.digest += io::format_checksum(io::checksum(io::read_file(file)));
  return network;
}

}  // namespace penumbra::app::interferometry
