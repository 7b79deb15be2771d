/// How many of a file's visibilities an interferometer's likelihood was made of, and where the others went.
#include <fmt/format.h>

#include <filesystem>

#include "likelihoods/interferometry.h"

namespace penumbra {
namespace {

/// A few flagged visibilities are usual; of a file that loses more the writer may have meant something else.
constexpr double noteworthy_loss = 0.1;

}  // namespace

DataFacts InterferometryLikelihood::data_facts() const {
  const auto& steps = observation_.preparation;
  if (!steps) return {};
  DataFacts facts;
  facts.counts = {{"visibilities", steps->read},
                  {"dropped", observation_.dropped},
                  {"weightless", observation_.weightless},
                  {"malformed", observation_.malformed},
                  {"flagged", steps->flagged},
                  {"averages", steps->averages},
                  {"below_min_baseline", steps->below_min_baseline},
                  {"above_max_baseline", steps->above_max_baseline},
                  {"below_min_snr", steps->below_min_snr},
                  {"prepared", static_cast<int64_t>(observation_.visibilities.size())}};
  const auto note = [&](int64_t lost, const char* why) {
    const auto of = observation_.weightless + observation_.malformed + steps->read;
    if (const double share = static_cast<double>(lost) / static_cast<double>(of); share > noteworthy_loss)
      facts.notes.push_back(fmt::format("{}: {} of {} visibilities ({:.0f} %) were dropped: {}",
                                        std::filesystem::path(observation_.name).filename().string(), lost, of,
                                        100 * share, why));
  };
  note(observation_.weightless, "no hand has a finite value with a positive weight");
  note(observation_.malformed, "baseline, u, v, time or integration time is no number");
  return facts;
}

}  // namespace penumbra
