#include "app/same_configuration.h"

#include <sstream>

#include "core/error.h"
#include "io/file.h"

namespace penumbra::app {
namespace {

/// The first line in which two configurations differ, for a message.
std::string first_difference(const std::string& a, const std::string& b) {
  std::istringstream in_a(a), in_b(b);
  std::string line_a, line_b;
  while (true) {
    const bool more_a = static_cast<bool>(std::getline(in_a, line_a)),
               more_b = static_cast<bool>(std::getline(in_b, line_b));
    if (!more_a) line_a = "(nothing)";
    if (!more_b) line_b = "(nothing)";
    if (line_a != line_b || (!more_a && !more_b)) return fmt::format("\"{}\" there, \"{}\" here", line_a, line_b);
  }
}

}  // namespace

void require_same_configuration(const std::filesystem::path& file, const std::string& resolved) {
  const auto there = io::read_file(file);
  if (there != resolved)
    input_error("{}: is a run of another configuration: {}", file.string(), first_difference(there, resolved));
}

}  // namespace penumbra::app
