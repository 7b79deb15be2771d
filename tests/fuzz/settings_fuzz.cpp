// Any text is a configuration or an InputError; what was resolved reads back as itself. The input is the file, then
// after a NUL the argument of --set.
#include <cstdlib>
#include <string>

#include "core/error.h"
#include "core/settings.h"

namespace {

using penumbra::InputError;
using penumbra::Settings;

/// Asks for every type; true where each key was right.
bool ask(Settings& s) {
  bool ok = true;
  const auto attempt = [&](auto action) {
    try {
      action();
    } catch (const InputError&) {
      ok = false;
    }
  };
  attempt([&] { s.number("n", 0.1, penumbra::positive); });
  attempt([&] { s.integer("i", 3, {0, 1e18}); });
  attempt([&] { s.flag("f", true); });
  attempt([&] { s.text("t", "a: b"); });
  attempt([&] { s.choice("c", {"fast", "slow"}, "fast"); });
  attempt([&] { s.numbers("v", {1, 2}); });
  if (s.has("file")) attempt([&] { s.file("file"); });
  attempt([&] { s.section("s").section("deep").text("x", ""); });
  if (s.has("list"))
    attempt([&] {
      for (auto& item : s.sections("list")) {
        item.number("n", 1);
        item.text("t", "y");
      }
    });
  return ok;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const auto end = input.find('\0');
  try {
    auto settings = Settings::from_text(input.substr(0, end), "fuzz.yaml", "/");
    if (end != std::string::npos) settings.assign(input.substr(end + 1));
    if (!ask(settings)) return 0;
    const auto resolved = settings.resolved();
    auto again = Settings::from_text(resolved, "resolved.yaml", "/");
    // Past this line the text is ours: nothing in it may be refused or changed.
    if (!ask(again) || again.resolved() != resolved) std::abort();
    try {
      again.finish();
    } catch (const InputError&) {
      std::abort();
    }
    settings.finish();
  } catch (const InputError&) {
  }
  return 0;
}
