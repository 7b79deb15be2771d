/// A command of the program: `extern const CommandEntry sample{...}` in its own file is enough.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/command_line.h"

namespace penumbra::app {

/// Exit codes that scripts rely on.
enum Exit { success = 0, machine_failure = 1, bad_input = 2, diverged = 3, interrupted = 130 };

struct CommandEntry {
  std::string name;
  std::string summary;
  /// Declares the options on the sub-command and returns what runs once they are parsed; the result is the exit code.
  std::function<int()> (*declare)(CLI::App& command);
};

const std::vector<const CommandEntry*>& command_entries();

}  // namespace penumbra::app
