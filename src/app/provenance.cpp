#include "app/provenance.h"

#include <torch/version.h>

#include <nlohmann/json.hpp>

#include "app/json.h"
#include "core/error.h"
#include "io/checksum.h"
#include "io/file.h"
#include "priors/network.h"

namespace penumbra::app {
namespace {

using nlohmann::json;

std::string checksum(const std::filesystem::path& path) {
  return io::format_checksum(io::checksum(io::read_file(path)));
}

json provenance(const Problem& problem) {
  // Without its number, which differs between processes.
  const auto device = c10::DeviceTypeName(problem.placement.device.type(), true);
  json now{{"device", device}, {"libtorch", TORCH_VERSION}, {"files", json::object()}};
  // `compute: auto` is decided by the machine.
  if (const auto type = network_compute(*problem.posterior.prior)) now["network_compute"] = *type;
  for (const auto& file : problem.files) now["files"][file.string()] = checksum(file);
  return now;
}

}  // namespace

void write_provenance(const std::filesystem::path& folder, const Problem& problem) {
  io::write_file(folder / "provenance.json", json_text(provenance(problem), 2) + "\n");
}

void require_same_provenance(const std::filesystem::path& folder, const Problem& problem) {
  const auto path = folder / "provenance.json";
  const auto then = json::parse(io::read_file(path), nullptr, false), now = as_written(provenance(problem));
  if (!then.is_object()) input_error("{}: expected a JSON object", path.string());
  const auto said = [](const json& object, const char* key) {
    const auto value = object.value(key, json());
    return value.is_string() ? value.get<std::string>() : "unknown";
  };
  for (const auto* key : {"device", "libtorch", "network_compute"})
    if (said(then, key) != said(now, key))
      input_error("{}: the run was begun with {} {}, this is {}; its result would not be the same", path.string(), key,
                  said(then, key), said(now, key));
  for (const auto& [file, sum] : now["files"].items())
    if (then.value("files", json::object()).value(file, "") != sum.get<std::string>())
      input_error("{}: the file has changed since the run was begun", file);
}

}  // namespace penumbra::app
