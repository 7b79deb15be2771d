// Any text is an array of stations with finite places and SEFDs, or an InputError.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "vlbi/array_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penumbra;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const bool begins = vlbi::begins_with_station(text);
  try {
    const auto stations = vlbi::parse_array(text, "fuzz.txt");
    if (!begins || stations.empty()) std::abort();
    for (const auto& station : stations) {
      for (const double metres : station.position)
        if (!std::isfinite(metres)) std::abort();
      for (const double sefd : {station.sefd_right, station.sefd_left})
        if (!(sefd >= 0) || !std::isfinite(sefd)) std::abort();
    }
  } catch (const InputError&) {
  }
  return 0;
}
