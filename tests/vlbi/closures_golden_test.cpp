/// Closures of M87's visibilities against ehtim's.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <numbers>

#include "support/npz.h"
#include "support/paths.h"
#include "vlbi/closures.h"
#include "vlbi/golden.h"

namespace penumbra::vlbi {
namespace {

constexpr double degree = std::numbers::pi / 180;

class ClosuresGolden : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto path = test::shared("interferometry/golden/" + GetParam() + ".npz");
    if (!path) GTEST_SKIP() << "no ../shared/interferometry";
    arrays = test::read_npz(*path);
    configurations = test::golden_summary().at(GetParam()).at("configs");
  }
  double number(const std::string& name, int64_t i) const { return arrays.at(name)[i].item<double>(); }

  /// Row of the golden set -> our closure of the same time and stations.
  template <typename C>
  std::vector<const C*> matched(const std::vector<C>& closures, const Observation& observation,
                                const std::string& set) const {
    std::map<std::pair<double, std::vector<int>>, const C*> ours;
    for (const auto& closure : closures)
      ours[{observation.visibilities[static_cast<size_t>(closure.rows[0])].time,
            {closure.stations.begin(), closure.stations.end()}}] = &closure;
    EXPECT_EQ(ours.size(), closures.size());
    const auto stations = arrays.at(set + "/st").to(at::kInt).contiguous();
    std::vector<const C*> result;
    for (int64_t i = 0; i < stations.size(0); ++i) {
      const auto* first = stations.data_ptr<int>() + i * stations.size(1);
      const auto found = ours.find({number(set + "/time", i), {first, first + stations.size(1)}});
      result.push_back(found == ours.end() ? nullptr : found->second);
    }
    return result;
  }

  test::Arrays arrays;
  nlohmann::json configurations;
};

TEST_P(ClosuresGolden, CountsAndValues) {
  for (const std::string config : {"A", "B"})
    for (const auto& [rule, name] : {std::pair(ClosureRule::ehtim_min, "min"), {ClosureRule::ehtim_max, "max"}}) {
      const auto observation = test::observation_in(arrays, config + "/vis/");
      const auto plain = form_closures(observation, {.rule = rule});
      const auto debiased = form_closures(observation, {.rule = rule, .debias = true});
      const auto phases = config + "/cphase_" + name, amplitudes = config + "/logcamp_" + name;
      EXPECT_EQ(plain.phases.size(), configurations[config][std::string("n_cphase_") + name].get<size_t>());
      EXPECT_EQ(plain.amplitudes.size(), configurations[config][std::string("n_logcamp_") + name].get<size_t>());

      const auto ours = matched(plain.phases, observation, phases);
      ASSERT_EQ(ours.size(), plain.phases.size());
      for (size_t i = 0; i < ours.size(); ++i) {
        ASSERT_NE(ours[i], nullptr) << phases << " " << i;
        const auto row = static_cast<int64_t>(i);
        const double difference = ours[i]->value - number(phases + "/cphase_deg", row) * degree;
        // ehtim's visibilities were averaged in float32.
        EXPECT_LT(std::abs(std::remainder(difference, 2 * std::numbers::pi)), 2e-6);
        const double sd = number(phases + "/sigma_deg", row) * degree;
        EXPECT_NEAR(ours[i]->sd, sd, 1e-6 * sd);
      }
      const auto ours_plain = matched(plain.amplitudes, observation, amplitudes);
      const auto ours_debiased = matched(debiased.amplitudes, observation, amplitudes);
      ASSERT_EQ(ours_plain.size(), plain.amplitudes.size());
      for (size_t i = 0; i < ours_plain.size(); ++i) {
        ASSERT_NE(ours_plain[i], nullptr) << amplitudes << " " << i;
        const auto row = static_cast<int64_t>(i);
        EXPECT_NEAR(ours_plain[i]->value, number(amplitudes + "/logcamp_nodebias", row), 1e-6);
        const double sd = number(amplitudes + "/sigma_nodebias", row);
        EXPECT_NEAR(ours_plain[i]->sd, sd, 1e-6 * sd);
        // Near |V| = sd the debiased amplitude magnifies rounding.
        EXPECT_NEAR(ours_debiased[i]->value, number(amplitudes + "/logcamp", row), 2e-5);
      }
    }
}

TEST_P(ClosuresGolden, AsManyAsAreIndependent) {
  for (const std::string config : {"A", "B"}) {
    const auto observation = test::observation_in(arrays, config + "/vis/");
    const auto counts = independent_closures(observation);
    EXPECT_EQ(counts.phases, configurations[config]["rank_cphase"].get<int64_t>());
    EXPECT_EQ(counts.amplitudes, configurations[config]["rank_logcamp"].get<int64_t>());
    const auto complete = form_closures(observation);
    EXPECT_EQ(static_cast<int64_t>(complete.amplitudes.size()), counts.amplitudes);
    // Where triangles do not fill every cycle.
    const int64_t unfilled = config == "B" && GetParam() == "M87_2017_096_hi"   ? 1
                             : config == "B" && GetParam() == "M87_2017_100_hi" ? 2
                                                                                : 0;
    EXPECT_EQ(static_cast<int64_t>(complete.phases.size()), counts.phases - unfilled);
  }
}

INSTANTIATE_TEST_SUITE_P(M87, ClosuresGolden, testing::ValuesIn(test::golden_observations()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace penumbra::vlbi
