/// Observations as NumPy's archives: what a few lines of Python can write.
#include <ATen/ATen.h>

#include <algorithm>
#include <tuple>

#include "core/error.h"
#include "io/file.h"
#include "io/npy.h"
#include "io/zip.h"
#include "vlbi/load.h"

namespace penumbra::vlbi {
namespace {

constexpr int most_station_numbers = 1000;

class Columns {
 public:
  Columns(const std::filesystem::path& path, const std::string& group)
      : name_(path.string()),
        prefix_(group.empty() ? "" : group + "/"),
        bytes_(io::read_file(path)),
        zip_(bytes_, name_) {}

  bool has(const std::string& key) const { return zip_.contains(prefix_ + key + ".npy"); }
  /// [m] in double, or in complex double.
  Tensor read(const std::string& key, int64_t m) const {
    auto array = parse(key);
    if (array.dim() != 1 || (m >= 0 && array.size(0) != m))
      input_error("{}: {}: expected a list{}, found {}", name_, prefix_ + key,
                  m < 0 ? "" : fmt::format(" of {} numbers, as time", m), describe(array.sizes()));
    if (array.is_complex() != (key == "vis"))
      input_error("{}: {}: expected {} numbers, found {}", name_, prefix_ + key, key == "vis" ? "complex" : "real",
                  c10::toString(array.scalar_type()));
    return array.to(array.is_complex() ? at::kComplexDouble : at::kDouble).contiguous();
  }
  /// Station numbers.
  std::vector<int> stations(const std::string& key, int64_t m) const {
    const auto numbers = read(key, m);
    std::vector<int> result;
    for (int64_t k = 0; k < m; ++k) {
      const double number = numbers[k].item<double>();
      if (!(number >= 0 && number < most_station_numbers) || number != std::floor(number))
        input_error("{}: {}: row {}: expected a station's number, 0 to {}, found {:g}", name_, prefix_ + key, k,
                    most_station_numbers - 1, number);
      result.push_back(static_cast<int>(number));
    }
    return result;
  }
  const std::string& name() const { return name_; }

 private:
  Tensor parse(const std::string& key) const {
    const auto bytes = zip_.read(prefix_ + key + ".npy");
    return io::parse_npy({bytes.data(), bytes.size()}, name_ + ": " + prefix_ + key);
  }

  std::string name_, prefix_, bytes_;
  io::Zip zip_;
};

/// V of (b, a) is the conjugate of V of (a, b).
void turn(Visibility& row) {
  std::swap(row.first, row.second);
  row.u = -row.u;
  row.v = -row.v;
  row.value = std::conj(row.value);
}

}  // namespace

std::vector<std::string> npz_groups(const std::filesystem::path& path) {
  constexpr std::string_view array = "vis.npy";
  const auto bytes = io::read_file(path);
  std::vector<std::string> groups;
  for (const auto& entry : io::Zip(bytes, path.string()).names()) {
    if (entry == array) groups.emplace_back();
    if (entry.ends_with(fmt::format("/{}", array))) groups.push_back(entry.substr(0, entry.size() - array.size() - 1));
  }
  return groups;
}

Observation read_npz_observation(const std::filesystem::path& path, const std::string& group) {
  const Columns columns(path, group);
  const auto time = columns.read("time", -1);
  const auto m = time.size(0);
  const auto first = columns.stations("i1", m), second = columns.stations("i2", m);
  const auto u = columns.read("u", m), v = columns.read("v", m), sd = columns.read("sigma", m);
  const auto seconds = columns.has("tint") ? columns.read("tint", m) : at::zeros_like(time);
  const auto values = columns.read("vis", m);
  Observation observation;
  int stations = 0;
  for (int64_t k = 0; k < m; ++k) {
    const auto number = [k](const Tensor& column) { return column.data_ptr<double>()[k]; };
    const auto z = values.data_ptr<c10::complex<double>>()[k];
    const auto i = static_cast<size_t>(k);
    if (first[i] == second[i])
      input_error("{}: row {}: expected two stations, found {} twice", columns.name(), k, first[i]);
    Visibility row{number(time), number(seconds),      first[i],  second[i], number(u),
                   number(v),    {z.real(), z.imag()}, number(sd)};
    if (!std::isfinite(row.time)) input_error("{}: row {}: time: expected a finite number", columns.name(), k);
    if (row.first > row.second) turn(row);
    stations = std::max(stations, row.second + 1);
    observation.visibilities.push_back(row);
  }
  std::stable_sort(observation.visibilities.begin(), observation.visibilities.end(), [](const auto& a, const auto& b) {
    return std::tie(a.time, a.first, a.second) < std::tie(b.time, b.first, b.second);
  });
  for (int s = 0; s < stations; ++s) observation.stations.push_back({.name = std::to_string(s)});
  return observation;
}

}  // namespace penumbra::vlbi
