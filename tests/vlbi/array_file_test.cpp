#include "vlbi/array_file.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/message.h"
#include "support/paths.h"

namespace penumbra::vlbi {
namespace {

using test::contains;
using test::message_of;

TEST(ArrayFile, ReadsOneOrTwoSefdsAndComments) {
  const auto stations = parse_array(
      "#NAME X Y Z SEFDR\nPV 5088967.9 -301681.6\t3825015.8 1400 # Spain\n\n"
      "SMA -5464523.4 -2493147.08 2150611.75 5600 6500 1 -1 45\n",
      "a.txt");
  ASSERT_EQ(stations.size(), 2U);
  EXPECT_EQ(stations[0].name, "PV");
  EXPECT_EQ(stations[0].position[1], -301681.6);
  EXPECT_EQ(stations[0].sefd_left, 1400);
  EXPECT_EQ(stations[1].sefd_right, 5600);
  EXPECT_EQ(stations[1].sefd_left, 6500);
}

TEST(ArrayFile, APlusMayLeadANumber) {
  const auto stations = parse_array("A +1828796.2 2 3 4\nB 1 2 3 +4e3\n", "a.txt");
  EXPECT_EQ(stations[0].position[0], 1828796.2);
  EXPECT_EQ(stations[1].sefd_right, 4000);
  for (const std::string bad : {"+-1", "++1", "-+1", "+"})
    EXPECT_TRUE(contains(message_of([&] { parse_array("A " + bad + " 2 3 4\n", "a.txt"); }), "found " + bad)) << bad;
}

TEST(ArrayFile, SaysWhatIsWrongAndWhere) {
  const auto refusal = [](const std::string& text) { return message_of([&] { parse_array(text, "a.txt"); }); };
  EXPECT_TRUE(contains(refusal("A 1 2 3 4\nB 1 two 3 4\n"), "a.txt:2: y: expected a number, found two"));
  EXPECT_TRUE(contains(refusal("A 1 2 3\n"), "a.txt:1: expected a name, x, y, z in metres and an SEFD"));
  EXPECT_TRUE(contains(refusal("A 1 2 3 4\n"), "at least two stations, found 1"));
  EXPECT_TRUE(contains(refusal("A 1 2 3 4\nA 1 2 3 4\n"), "a.txt:2: name: expected each station once"));
  EXPECT_TRUE(contains(refusal("A 1 2 3 -4\n"), "SEFD: expected >= 0"));
  EXPECT_TRUE(contains(refusal("A 1 2 3 4\nB\xfc 1 2 3 4\n"), "a.txt:2: name: expected printable ASCII"));
  EXPECT_TRUE(contains(refusal("A 1 2 inf 4\n"), "z: expected a number"));
}

TEST(ArrayFile, KnownArraysLieOnTheEarth) {
  EXPECT_FALSE(known_array("EHT2018"));
  for (const auto& name : known_arrays()) {
    const auto stations = known_array(name).value();
    for (const auto& station : stations) {
      const auto& [x, y, z] = station.position;
      const double radius = std::sqrt(x * x + y * y + z * z);
      EXPECT_GT(radius, 6356e3) << station.name;  // the pole's, and the equator's with 6 km of mountain
      EXPECT_LT(radius, 6385e3) << station.name;
    }
  }
}

TEST(ArrayFile, EhtimsFilesAreRead) {
  const auto folder = test::shared("data/eht/arrays_eht-imaging");
  if (!folder) GTEST_SKIP() << "no ../shared/data/eht";
  EXPECT_EQ(read_array(*folder / "EHT2017.txt").size(), 8U);
  EXPECT_EQ(read_array(*folder / "EHT2025.txt").size(), 12U);
  EXPECT_GT(read_array(*folder / "SITES.txt").size(), 12U);
  // Known positions are those of the observations: tens of metres from ehtim's table.
  const auto known = *known_array("EHT2017");
  for (const auto& station : read_array(*folder / "EHT2017_m87.txt"))
    for (const auto& ours : known)
      if (ours.name == station.name) {
        EXPECT_EQ(ours.sefd_right, station.sefd_right) << station.name;
        EXPECT_EQ(ours.sefd_left, station.sefd_left) << station.name;
        for (size_t axis = 0; axis < 3; ++axis)
          EXPECT_NEAR(ours.position[axis], station.position[axis], 250) << station.name;
      }
}

}  // namespace
}  // namespace penumbra::vlbi
