/// What can go wrong outside our control, each kind with its own exit code (docs/commands.md).
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace penumbra {

/// The user's input is wrong: a file, a field, an option. The message names it and says what was expected.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The machine refused: a full disk, a folder that cannot be written, a read that failed.
class MachineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename... Args>
[[noreturn]] void input_error(fmt::format_string<Args...> format, Args&&... args) {
  throw InputError(fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void machine_error(fmt::format_string<Args...> format, Args&&... args) {
  throw MachineError(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace penumbra
