// Any JSON is a header with a U-Net's or a VarNet's options or an InputError; what was read is written and read back to
// the same.
#include <cstdlib>

#include "core/error.h"
#include "networks/header.h"
#include "networks/unet.h"
#include "networks/varnet.h"

namespace {

/// Throws InputError where the options are refused.
template <typename Options>
void round_trip(const nlohmann::json& object) {
  using penumbra::InputError;
  const auto options = Options::from_json(object, "fuzz");
  try {
    if (Options::from_json(options.to_json(), "again").to_json() != options.to_json()) std::abort();
  } catch (const InputError&) {
    std::abort();
  }
}

}  // namespace

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
    try {
      const auto again = NetworkHeader::from_json(header.to_json(), "again");
      if (again.to_json() != header.to_json()) std::abort();
    } catch (const InputError&) {
      std::abort();
    }
    if (header.reconstructs())
      round_trip<VarNetOptions>(header.architecture);
    else
      round_trip<UNetOptions>(header.architecture);
  } catch (const InputError&) {
  }
  return 0;
}
