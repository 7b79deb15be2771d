/// The program: finds the command, turns what went wrong into one line and an exit code.
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "app/command.h"
#include "core/error.h"
#include "core/named.h"
#include "core/nearest.h"

namespace {

/// OpenMP's threads spin while they wait, and starve OpenBLAS's own threads: a step took twice as long on two cores.
/// The policy is read when the library is loaded, so the program starts itself once more with it.
void let_threads_sleep(char** argv) {
  if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT")) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  execv("/proc/self/exe", argv);  // returns only where it failed: then things are merely slower
}

/// Every step frees and takes the same large blocks. Given back to the system in between, their pages have to be
/// cleared anew each time: a fifth of a network's time.
void keep_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

/// The parser would say no more than that a command is missing.
void refuse_unknown_command(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const std::string word = argv[1];
  const auto names = penumbra::names_of(penumbra::app::command_entries());
  if (std::find(names.begin(), names.end(), word) == names.end())
    penumbra::input_error("unknown command {}{} (see --help)", penumbra::excerpt(word),
                          penumbra::suggestion(word, names));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace penumbra;
  let_threads_sleep(argv);
  keep_memory();
  CLI::App app{"Penumbra: images with honest uncertainty from indirect, noisy, incomplete measurements", "penumbra"};
  app.set_version_flag("--version", PENUMBRA_VERSION);
  app.require_subcommand(1);
  std::function<int()> chosen;
  for (const auto* entry : app::command_entries()) {
    auto* command = app.add_subcommand(entry->name, entry->summary);
    command->callback([run = entry->declare(*command), &chosen] { chosen = run; });
  }
  try {
    refuse_unknown_command(argc, argv);
    app.parse(argc, argv);
    return chosen();
  } catch (const CLI::Success& request) {
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "penumbra: {} (see --help)\n", error.what());
    return app::bad_input;
  } catch (const InputError& error) {
    fmt::print(stderr, "penumbra: {}\n", error.what());
    return app::bad_input;
  } catch (const std::filesystem::filesystem_error& error) {
    fmt::print(stderr, "penumbra: {}: {}\n", error.path1().string(), error.code().message());
    return app::bad_input;
  } catch (const c10::Error& error) {
    // LibTorch's own message carries a stack trace; the first line says what it was.
    const std::string message = error.what_without_backtrace();
    fmt::print(stderr, "penumbra: LibTorch: {}\n", message.substr(0, message.find('\n')));
    return app::machine_failure;
  } catch (const std::exception& error) {
    fmt::print(stderr, "penumbra: {}\n", error.what());
    return app::machine_failure;
  }
}
