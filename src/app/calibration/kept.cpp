#include "app/calibration/kept.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "io/file.h"

namespace penumbra::app::calibration {
namespace {

using diagnostics::Standing;
using nlohmann::json;

constexpr std::pair<const char*, Tensor Standing::*> fields[]{{"truth", &Standing::truth},
                                                              {"mean", &Standing::mean},
                                                              {"sd", &Standing::sd},
                                                              {"rank", &Standing::rank},
                                                              {"place", &Standing::place}};

std::filesystem::path file(const std::filesystem::path& folder, int64_t first) {
  return folder / fmt::format("{:06}.json", first);
}

json numbers(const Tensor& x) {
  const auto exact = x.contiguous();
  return std::vector<double>(exact.data_ptr<double>(), exact.data_ptr<double>() + exact.numel());
}

/// JSON has no NaN, which is written as null: the SD of a single draw, say.
Tensor tensor(const json& list) {
  std::vector<double> values;
  for (const auto& value : list) values.push_back(value.is_null() ? std::nan("") : value.get<double>());
  return at::tensor(values, at::kDouble);
}

Simulation read(const json& from, int64_t number, int64_t statistics) {
  Simulation simulation{number, {}, from.at("tarp").get<double>()};
  if (from.at("number").get<int64_t>() != number) throw std::out_of_range("number");
  for (const auto& [name, field] : fields) {
    simulation.standing.*field = tensor(from.at(name));
    if ((simulation.standing.*field).numel() != statistics) throw std::out_of_range(name);
  }
  return simulation;
}

}  // namespace

void keep(const std::filesystem::path& folder, const Kept& batch) {
  std::filesystem::create_directories(folder);
  auto list = json::array();
  for (const auto& simulation : batch.simulations) {
    json one{{"number", simulation.number}, {"tarp", simulation.tarp}};
    for (const auto& [name, field] : fields) one[name] = numbers(simulation.standing.*field);
    list.push_back(std::move(one));
  }
  io::write_file(file(folder, batch.simulations.front().number),
                 json{{"seconds", batch.seconds}, {"simulations", list}}.dump() + "\n");
}

std::optional<Kept> find_kept(const std::filesystem::path& folder, int64_t first, int64_t count, int64_t statistics) {
  const auto path = file(folder, first);
  if (!std::filesystem::exists(path)) return std::nullopt;
  // What a damaged file held is computed again.
  try {
    const auto found = json::parse(io::read_file(path));
    Kept batch{{}, found.at("seconds").get<double>()};
    for (int64_t i = 0; i < count; ++i)
      batch.simulations.push_back(read(found.at("simulations").at(static_cast<size_t>(i)), first + i, statistics));
    return batch;
  } catch (const json::exception&) {
    return std::nullopt;
  } catch (const std::out_of_range&) {
    return std::nullopt;
  }
}

}  // namespace penumbra::app::calibration
