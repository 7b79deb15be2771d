// Any JSON is a header with a U-Net's options or an InputError; what was read is written and read back to the same.
#include <cstdlib>

#include "core/error.h"
#include "networks/header.h"
#include "networks/unet.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace penumbra;
  constexpr int deepest = 64;  // as the readers of files have it
  bool deep = false;
  const auto watch = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    deep = deep || depth > deepest;
    return depth <= deepest;
  };
  const auto json = nlohmann::json::parse(data, data + size, watch, false);
  if (json.is_discarded() || deep) return 0;
  try {
    const auto header = NetworkHeader::from_json(json, "fuzz");
    const auto options = UNetOptions::from_json(header.architecture, "fuzz");
    try {
      const auto again = NetworkHeader::from_json(header.to_json(), "again");
      if (again.to_json() != header.to_json()) std::abort();
      if (UNetOptions::from_json(options.to_json(), "again").to_json() != options.to_json()) std::abort();
    } catch (const InputError&) {
      std::abort();
    }
  } catch (const InputError&) {
  }
  return 0;
}
