#include "report/chart.h"

#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "core/error.h"
#include "report/number.h"
#include "support/message.h"

namespace penumbra::report {
namespace {

using test::contains;

size_t count(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<size_t>(std::distance(std::sregex_iterator(text.begin(), text.end(), regex), {}));
}

TEST(Number, IsAsShortAsItsDigitsAllow) {
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(0.001), "1e-3");
  EXPECT_EQ(format_number(-0.00025), "-2.5e-4");
  EXPECT_EQ(format_number(0.05), "0.05");
  EXPECT_EQ(format_number(1.0 / 3), "0.333");
  EXPECT_EQ(format_number(12345.6), "12346");
  EXPECT_EQ(format_number(100), "100");
  EXPECT_EQ(format_number(1.5e6), "1.5e6");
  EXPECT_EQ(format_number(NAN), "NaN");
  EXPECT_EQ(format_number(-INFINITY), "-infinite");
}

TEST(Number, TicksShareTheirDecimals) {
  EXPECT_EQ(format_ticks({0, 0.5, 1}), (std::vector<std::string>{"0.0", "0.5", "1.0"}));
  EXPECT_EQ(format_ticks({-20, 0, 20}), (std::vector<std::string>{"-20", "0", "20"}));
  EXPECT_EQ(format_ticks({0, 1e-6, 2e-6}), (std::vector<std::string>{"0", "1e-6", "2e-6"}));
}

TEST(Axis, TicksAreRoundAndInside) {
  const Scale linear({}, {0.03, 0.97}, 0);
  EXPECT_EQ(linear.labels(linear.ticks(5)), (std::vector<std::string>{"0.2", "0.4", "0.6", "0.8"}));
  const Scale decades({.log = true}, {2e-4, 300}, 0);
  EXPECT_EQ(decades.labels(decades.ticks(6)), (std::vector<std::string>{"1e-3", "0.01", "0.1", "1", "10", "100"}));
  const Scale narrow({.log = true}, {3, 60}, 0);
  EXPECT_EQ(narrow.labels(narrow.ticks(5)), (std::vector<std::string>{"5", "10", "20", "50"}));
}

TEST(Axis, SurvivesNothingConstantsAndHugeSpans) {
  for (const bool log : {false, true})
    for (const auto& values : std::vector<std::vector<double>>{
             {}, {NAN}, {7}, {0, 0}, {-1, -1}, {1e300, -1e300}, {1e-300, 1e300}, {1, 1 + 1e-15}, {INFINITY, 1}}) {
      Scale scale({.log = log}, values, 0.05);
      scale.lay(0, 100);
      const auto ticks = scale.ticks(5);
      EXPECT_LE(ticks.size(), 20u);
      for (const auto tick : ticks) EXPECT_TRUE(std::isfinite(scale(tick)));
    }
}

TEST(Chart, LeavesGapsWhereValuesHaveNoPlace) {
  const auto text =
      svg({.y = {.log = true}, .series = {{.x = {1, 2, 3, 4, 5, 6}, .y = {1, 10, NAN, 100, 0, INFINITY}}}});
  EXPECT_EQ(count(text, "<path d=\"M[^M]*L[^M]*M[^M]*\""), 1u);
  EXPECT_FALSE(contains(text, "nan"));
  EXPECT_FALSE(contains(text, "inf"));
}

TEST(Chart, KeepsTheExtremesOfALongSeries) {
  Series series;
  for (int i = 0; i < 100000; ++i) {
    series.x.push_back(i);
    series.y.push_back(i == 54321 ? 1 : 0);
  }
  Chart chart{.y = {.low = 0, .high = 1}, .series = {series}};
  const auto text = svg(chart);
  EXPECT_LT(text.size(), 40000u);
  // The spike reaches the upper edge of the inner, clipping <svg>.
  std::smatch box;
  ASSERT_TRUE(std::regex_search(text, box, std::regex("<svg x=\"[0-9.]+\" y=\"([0-9.]+)\"")));
  EXPECT_TRUE(contains(text, "," + box[1].str() + " "));
}

TEST(Chart, StandsAloneWithLiteralColours) {
  const Chart chart{.title = "A & B", .series = {{.name = "<b>", .x = {0, 1}, .y = {0, 1}}}};
  const auto alone = svg(chart, true), in_page = svg(chart);
  EXPECT_FALSE(contains(alone, "var("));
  EXPECT_TRUE(contains(alone, "xmlns="));
  EXPECT_TRUE(contains(alone, "A &amp; B</text>"));
  EXPECT_TRUE(contains(in_page, "var(--series-0,#"));
  for (const auto& text : {alone, in_page}) EXPECT_TRUE(contains(text, "&lt;b&gt;"));
}

TEST(Chart, DrawsBandsPointsBarsAndReferences) {
  const auto text = svg({.series = {{.x = {0, 1}, .low = {0, 1}, .high = {1, 2}},
                                    {.x = {0, 1, 2}, .y = {1, 2, 3}, .mark = Mark::points},
                                    histogram("h", {1, 2, 2, 3, NAN}, 4)},
                         .references = {{1, "limit"}}});
  EXPECT_EQ(count(text, "<polygon"), 1u);
  EXPECT_EQ(count(text, "<circle"), 3u);
  EXPECT_EQ(count(text, "opacity:.6"), 4u);
  EXPECT_TRUE(contains(text, ">limit<"));
}

TEST(Chart, HistogramCountsEveryFiniteValue) {
  const auto series = histogram("h", {0, 0.1, 0.5, 1, INFINITY}, 2);
  EXPECT_EQ(series.x, (std::vector<double>{0, 0.5, 1}));
  EXPECT_EQ(series.y, (std::vector<double>{2, 2}));
}

TEST(Chart, RefusesSeriesOfUnequalLength) {
  EXPECT_THROW(svg({.series = {{.x = {1, 2}, .y = {1}}}}), InputError);
  EXPECT_THROW(svg({.series = {{.x = {1, 2}, .low = {1, 2}, .high = {1}}}}), InputError);
}

}  // namespace
}  // namespace penumbra::report
