#include "run/checkpoint.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "io/file.h"
#include "io/npy.h"

namespace penumbra {
namespace fs = std::filesystem;
namespace {

constexpr auto unfinished = ".unfinished";

std::optional<int64_t> iteration_of(const fs::path& folder) {
  const auto name = folder.filename().string();
  int64_t k = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), k);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return k;
}

}  // namespace

void save_checkpoint(const fs::path& folder, const Checkpoint& checkpoint) {
  const auto target = folder / std::to_string(checkpoint.k);
  if (fs::exists(target)) return;  // an interrupt right after a periodic save
  const auto beside = folder / (std::to_string(checkpoint.k) + unfinished);
  std::error_code error;
  fs::remove_all(beside, error);
  fs::create_directories(beside, error);
  if (error) machine_error("{}: cannot make the folder: {}", beside.string(), error.message());
  nlohmann::json manifest{{"k", checkpoint.k}, {"seconds", checkpoint.seconds}, {"tensors", nlohmann::json::array()}};
  for (const auto& [name, tensor] : checkpoint.tensors) {
    io::write_npy(beside / (name + ".npy"), tensor);
    manifest["tensors"].push_back(name);
  }
  io::write_file(beside / "manifest.json", manifest.dump(1));
  io::rename_durably(beside, target);
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path() != target) fs::remove_all(entry.path(), error);
}

std::optional<int64_t> newest_checkpoint(const fs::path& folder) {
  std::optional<int64_t> newest;
  if (!fs::is_directory(folder)) return newest;
  for (const auto& entry : fs::directory_iterator(folder))
    if (const auto k = iteration_of(entry.path()); k && fs::exists(entry.path() / "manifest.json"))
      newest = std::max(newest.value_or(*k), *k);
  return newest;
}

std::optional<Checkpoint> load_checkpoint(const fs::path& folder) {
  const auto newest = newest_checkpoint(folder);
  if (!newest) return std::nullopt;
  const auto path = folder / std::to_string(*newest);
  Checkpoint checkpoint;
  try {
    const auto manifest = nlohmann::json::parse(io::read_file(path / "manifest.json"));
    checkpoint.k = manifest.at("k").get<int64_t>();
    checkpoint.seconds = manifest.at("seconds").get<double>();
    for (const auto& name : manifest.at("tensors"))
      checkpoint.tensors[name.get<std::string>()] = io::read_npy(path / (name.get<std::string>() + ".npy"));
  } catch (const nlohmann::json::exception& error) {
    input_error("{}: not a checkpoint's manifest: {}", (path / "manifest.json").string(), error.what());
  }
  return checkpoint;
}

void drop_checkpoint(const fs::path& folder) {
  auto done = folder;
  done += ".done";
  fs::remove_all(done);
  if (fs::exists(folder)) io::rename_durably(folder, done);
  fs::remove_all(done);
}

}  // namespace penumbra
