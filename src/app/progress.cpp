#include "app/progress.h"

#include <fmt/format.h>
#include <unistd.h>

namespace penumbra::app {

Progress::Progress() : terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (written_) fmt::print(stderr, "\n");
}

void Progress::operator()(const ChainRun& run) {
  if (!terminal_) return;
  std::string course;
  if (!run.trace().rows().empty()) {
    const auto& row = run.trace().rows().back();
    course = fmt::format("  sigma {:.3g}", row.sigma);
    if (!std::isnan(row.chi2)) course += fmt::format("  chi2 {:.4g}", row.chi2);
  }
  show(run.state().k, run.plan().steps, course);
}

void Progress::show(int64_t k, int64_t steps, const std::string& course, const std::string& unit) {
  if (!terminal_) return;
  if (first_k_ < 0) first_k_ = k - 1;
  const auto now = Clock::now();
  if (written_ && k < steps && now - last_ < std::chrono::milliseconds(200)) return;
  last_ = now;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(k - first_k_) / std::max(elapsed, 1e-9);
  fmt::print(stderr, "\r\033[K{}/{} {}  {:.0f} %{}  {:.1f} a second  {} left", k, steps, unit,
             100.0 * static_cast<double>(k) / static_cast<double>(steps), course, rate,
             clock_time(static_cast<double>(steps - k) / rate));
  std::fflush(stderr);
  written_ = true;
}

void Progress::count(int64_t done, const std::string& what) {
  const auto now = Clock::now();
  if (!terminal_ || (written_ && now - last_ < std::chrono::milliseconds(200))) return;
  last_ = now;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  fmt::print(stderr, "\r\033[K{}: {}  {:.1f} a second  {}", what, done,
             static_cast<double>(done) / std::max(elapsed, 1e-9), clock_time(elapsed));
  std::fflush(stderr);
  written_ = true;
}

std::string clock_time(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace penumbra::app
