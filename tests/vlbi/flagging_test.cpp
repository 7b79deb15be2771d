#include "vlbi/flagging.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/message.h"
#include "vlbi/example.h"

namespace penumbra::vlbi {
namespace {

using test::contains;
using test::message_of;

constexpr int aa = 0, az = 1, lm = 2;  // of the example's stations

/// What `flags` leaves is all that `kept` says, no more and no less.
template <typename Kept>
void expect_kept(const Flags& flags, const Observation& observation, Kept kept) {
  auto expected = observation.visibilities;
  std::erase_if(expected, [&](const Visibility& row) { return !kept(row); });
  const auto rows = unflagged(observation, flags, "x");
  ASSERT_EQ(rows.size(), expected.size());
  EXPECT_LT(rows.size(), observation.visibilities.size());
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i].value, expected[i].value);
}

TEST(Flagging, AStationTakesAllItsBaselines) {
  expect_kept({.stations = {"AZ"}}, example_observation(),
              [](const Visibility& row) { return row.first != az && row.second != az; });
}

TEST(Flagging, ABaselineGoesByBothItsNames) {
  const auto kept = [](const Visibility& row) { return row.first != aa || row.second != lm; };
  expect_kept({.baselines = {"AA-LM"}}, example_observation(), kept);
  expect_kept({.baselines = {"LM-AA"}}, example_observation(), kept);
}

TEST(Flagging, AStationsNameMayHoldAHyphen) {
  auto observation = example_observation();
  observation.stations[aa].name = "A-A";
  expect_kept({.baselines = {"A-A-LM"}}, observation,
              [](const Visibility& row) { return row.first != aa || row.second != lm; });
}

TEST(Flagging, HoursHoldTheirEnds) {
  const auto observation = example_observation();
  const double first = observation.visibilities.front().time;
  expect_kept({.hours = {{first, first}, {2.55, 9}}}, observation,
              [&](const Visibility& row) { return row.time > first && row.time < 2.55; });
}

TEST(Flagging, AllFlagsTogether) {
  expect_kept({.stations = {"PV"}, .baselines = {"AA-AZ"}, .hours = {{0, 2.1}}}, example_observation(),
              [](const Visibility& row) { return row.second == lm && row.time > 2.1; });
}

TEST(Flagging, StrangersAreRefusedWithTheStationsThatThereAre) {
  const auto refusal = [](const Flags& flags) {
    return message_of([&] { unflagged(example_observation(), flags, "x.uvfits"); });
  };
  EXPECT_EQ(refusal({.stations = {"AA", "PVV"}}),
            "x.uvfits: flag.stations: expected stations of AA, AZ, LM, PV, found PVV; did you mean PV?");
  for (const auto* stranger : {"AA-SR", "AA", "AA-AA", "-", "AA-", ""}) {
    const auto message = refusal({.baselines = {stranger}});
    EXPECT_TRUE(contains(message, "x.uvfits: flag.baselines: expected two stations of AA, AZ, LM, PV")) << message;
    EXPECT_TRUE(contains(message, std::string("found ") + stranger)) << message;
  }
}

TEST(Flagging, NothingLeftIsAnErrorThatNamesTheKeys) {
  const auto message = message_of([] {
    unflagged(example_observation(), {.stations = {"AA", "AZ", "LM"}, .hours = {{0, 1}}}, "x.uvfits");
  });
  EXPECT_TRUE(contains(message, "x.uvfits: flag.stations, flag.hours: ")) << message;
  EXPECT_TRUE(contains(message, "none of 54")) << message;
}

}  // namespace
}  // namespace penumbra::vlbi
