/// `likelihood.kind: interferometry` from its configuration, and the way from a simulation to its samples.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "io/npy.h"
#include "likelihoods/interferometry.h"
#include "likelihoods/simulated.h"
#include "support/damaged_file.h"
#include "support/message.h"
#include "support/observation_archive.h"
#include "support/paths.h"
#include "support/program.h"
#include "vlbi/golden.h"
#include "vlbi/load.h"

namespace penumbra {
namespace {

using test::columns_of;
using test::write_npz;

Tensor image() { return uniform({4, 0, 0}, Stream::truth, at::empty({1, 1, 8, 8}, at::kDouble)); }

struct InterferometrySetting : testing::Test {
  std::filesystem::path folder = test::scratch();
  vlbi::Observation observation = test::synthetic_observation(4, 2);

  std::shared_ptr<const Likelihood> make(const std::string& text, Purpose purpose = Purpose::sample) const {
    auto settings = Settings::from_text("{kind: interferometry, " + text + "}", "c.yaml", folder);
    auto likelihood = make_likelihood(settings, {1, 8, 8}, {at::kDouble, at::kCPU}, purpose);
    settings.finish();
    return likelihood;
  }
  void expect_refused(const std::string& text, const std::vector<std::string>& words) const {
    const auto message = test::message_of([&] { make(text); });
    for (const auto& word : words) EXPECT_TRUE(test::contains(message, word)) << word << " in: " << message;
  }
  std::vector<std::string> terms(const std::string& text) const {
    std::vector<std::string> names;
    for (const auto& misfit : make(text)->misfit(image())) names.push_back(misfit.term);
    return names;
  }
  void SetUp() override { write_npz(folder / "o.npz", columns_of(observation)); }
};

TEST_F(InterferometrySetting, ClosuresAreTheDefault) {
  EXPECT_EQ(terms("data: o.npz, fov: 60"), (std::vector<std::string>{"closure_phase", "log_closure_amplitude"}));
}

TEST_F(InterferometrySetting, AnySubsetOfTerms) {
  EXPECT_EQ(terms("data: o.npz, fov: 60, terms: {visibility: 1, amplitude: {debias: false}, flux: {sd: 0.1}}"),
            (std::vector<std::string>{"amplitude", "visibility", "flux"}));
  const auto x = at::full({1, 1, 8, 8}, 0.2, at::kDouble);
  const auto once = make("data: o.npz, fov: 60, terms: {closure_phase: 1}")->value(x);
  const auto thrice = make("data: o.npz, fov: 60, terms: {closure_phase: {weight: 3}}")->value(x);
  EXPECT_LT(test::relative_error(thrice, 3 * once), 1e-12);
}

/// All |V| are 1 Jy: an image of mean 0.05 has 1 Jy. rho = 0.5 of the paper counts the flux in units of x: 3.2.
TEST_F(InterferometrySetting, UnitsAndFlux) {
  const auto x = at::full({1, 1, 8, 8}, 0.05, at::kDouble);
  const auto flux = make("data: o.npz, fov: 60, terms: {flux: {rho: 0.5}}");
  EXPECT_NEAR(flux->value(x).item<double>(), 0, 1e-20);
  EXPECT_NEAR(flux->value(2 * x).item<double>(), 0.25 * 3.2 * 3.2, 1e-12);
  const auto given = make("data: o.npz, fov: 60, jy_per_unit: 2, black: -1, terms: {flux: {value: 3, sd: 0.5}}");
  EXPECT_NEAR(given->value(x).item<double>(), std::pow((2 * 64 * 1.05 - 3) / 0.5, 2) / 2, 1e-9);
}

TEST_F(InterferometrySetting, AGroupOfALargerArchive) {
  write_npz(folder / "g.npz", columns_of(observation), "B/vis/");
  const auto x = image();
  EXPECT_EQ(make("data: {file: g.npz, group: B/vis}, fov: 60")->value(x).item<double>(),
            make("data: o.npz, fov: 60")->value(x).item<double>());
}

/// Rows in any order, stations in any order: one observation.
TEST_F(InterferometrySetting, RowsAreBroughtIntoOrder) {
  auto columns = columns_of(observation);
  for (auto& [name, array] : columns) array = array.flip({0});
  std::swap(columns[1].second, columns[2].second);
  for (const size_t turned : {3, 4}) columns[turned].second = -columns[turned].second;
  columns[5].second = columns[5].second.conj();
  write_npz(folder / "t.npz", columns);
  const auto read = vlbi::read_npz_observation(folder / "t.npz", "");
  ASSERT_EQ(read.visibilities.size(), observation.visibilities.size());
  for (size_t k = 0; k < read.visibilities.size(); ++k) {
    EXPECT_EQ(read.visibilities[k].first, observation.visibilities[k].first);
    EXPECT_EQ(read.visibilities[k].u, observation.visibilities[k].u);
    EXPECT_EQ(read.visibilities[k].time, observation.visibilities[k].time);
  }
  EXPECT_EQ(read.stations.size(), 4u);
}

TEST_F(InterferometrySetting, WrongSettingsAreNamed) {
  expect_refused("data: o.npz", {"fov"});
  expect_refused("data: o.npz, fov: 0", {"fov", "> 0"});
  expect_refused("data: o.npz, fov: 60, closures: ehtim-max, errors: covariance", {"errors", "independent"});
  const std::vector<std::string> misspelt{"c.yaml:1: terms.closure_fase: unknown key; did you mean closure_phase?",
                                          "(known: closure_phase, log_closure_amplitude, amplitude, visibility, flux, "
                                          "position)"};
  expect_refused("data: o.npz, fov: 60, terms: {closure_fase: 1, flux: {sd: 1}}", misspelt);
  expect_refused("data: o.npz, fov: 60, terms: {closure_fase: 1}", misspelt);
  expect_refused("data: o.npz, fov: 60, terms: {closure_phase: {weight: 0, law: cosine}}",
                 {"c.yaml:1: terms:", "one of closure_phase"});
  expect_refused("data: o.npz, fov: 60, terms: {closure_phase: -1}", {"terms.closure_phase", ">= 0"});
  expect_refused("data: o.npz, fov: 60, terms: {flux: {value: 1}}", {"terms.flux.sd"});
  expect_refused("data: o.npz, fov: 60, terms: {flux: {sd: 1, rho: 1}}", {"terms.flux.rho", "both"});
  expect_refused("data: missing.npz, fov: 60", {"missing.npz"});
}

/// Three stations close no quadrangle, two nothing at all.
TEST_F(InterferometrySetting, ATermWithoutClosuresIsToldWithItsFile) {
  observation = test::synthetic_observation(3, 2);
  write_npz(folder / "three.npz", columns_of(observation));
  expect_refused("data: three.npz, fov: 60", {"three.npz: terms.log_closure_amplitude: ", "4 stations",
                                              "can be left out (terms: {closure_phase: 1})"});
  EXPECT_EQ(terms("data: three.npz, fov: 60, terms: {closure_phase: 1}"), (std::vector<std::string>{"closure_phase"}));
  write_npz(folder / "two.npz", columns_of(test::synthetic_observation(2, 2)));
  expect_refused("data: {file: two.npz}, fov: 60",
                 {"two.npz: terms.closure_phase: ", "3 stations", "there is terms.amplitude"});
}

TEST_F(InterferometrySetting, WrongFilesAreNamed) {
  test::write_text(folder / "a.npz", "no archive");
  expect_refused("data: a.npz, fov: 60", {"a.npz", "ZIP"});
  test::write_text(folder / "a.txt", "text");
  expect_refused("data: a.txt, fov: 60", {"a.txt", "expected"});
  const auto with = [&](size_t column, const Tensor& array) {
    auto columns = columns_of(observation);
    columns[column].second = array;
    write_npz(folder / "b.npz", columns);
  };
  const auto m = static_cast<int64_t>(observation.visibilities.size());
  with(3, at::zeros({m + 1}, at::kDouble));
  expect_refused("data: b.npz, fov: 60", {"b.npz", "u:", "list of 12"});
  with(1, at::full({m}, -1, at::kLong));
  expect_refused("data: b.npz, fov: 60", {"b.npz", "i1: row 0", "-1"});
  with(5, at::zeros({m}, at::kDouble));
  expect_refused("data: b.npz, fov: 60", {"b.npz", "vis", "complex"});
  with(6, at::zeros({m}, at::kDouble));
  expect_refused("data: b.npz, fov: 60", {"b.npz: visibility 0", "sd > 0"});
  with(5, at::zeros({m}, at::kComplexDouble));
  expect_refused("data: b.npz, fov: 60", {"jy_per_unit", "no flux"});
  io::write_npy(folder / "y.npy", at::zeros({3}, at::kComplexDouble));
  expect_refused("data: {file: o.npz, values: y.npy}, fov: 60", {"y.npy", "12 complex", "3"});
}

TEST_F(InterferometrySetting, DamagedArchivesAreReadOrRefused) {
  test::expect_read_or_refused(folder / "o.npz", [&](unsigned) { vlbi::read_npz_observation(folder / "o.npz", ""); });
}

/// observe writes visibilities that sample takes: with as good as no noise the truth explains them.
TEST_F(InterferometrySetting, FromASimulationToSamples) {
  for (auto& row : observation.visibilities) row.sd = 1e-3;
  write_npz(folder / "o.npz", columns_of(observation));
  const auto truth = image()[0].to(at::kFloat);
  io::write_npy(folder / "x.npy", truth);
  const std::string config =
      "prior: {kind: random_field, side: 8}\n"
      "likelihood: {kind: interferometry, data: {file: o.npz, values: y.npy}, fov: 60, jy_per_unit: 0.1}\n"
      "sampler: {kind: pmc-red, sigma: 0.1, step_size: 1e-9, steps: 4}\nchains: 2\n";
  test::write_text(folder / "c.yaml", config);
  const auto path = (folder / "c.yaml").string();
  const auto observed =
      test::penumbra({"observe", path, "--truth", (folder / "x.npy").string(), "--out", (folder / "y.npy").string()});
  ASSERT_EQ(observed.code, 0) << observed.err;
  const auto likelihood = make("data: {file: o.npz, values: y.npy}, fov: 60, jy_per_unit: 0.1");
  for (const auto& misfit : likelihood->misfit(truth.unsqueeze(0).to(at::kDouble)))
    EXPECT_LT(misfit.chi2.item<double>(), 5) << misfit.term;  // 6 and 4 data: beyond one in ten thousand
  const auto run = test::penumbra({"sample", path, "--out", (folder / "run").string()});
  EXPECT_EQ(run.code, 0) << run.err;
}

/// Calibration gives it data that it simulated: as if they were read from a file, closures and all.
TEST_F(InterferometrySetting, SimulatedDataAreThoseOfAFile) {
  const std::string rest =
      ", fov: 60, jy_per_unit: 0.01, terms: {closure_phase: 1, log_closure_amplitude: 2, amplitude: 1, flux: {value: "
      "0.6, sd: 0.1}}";
  const auto without = make("data: o.npz" + rest, Purpose::simulate);
  const Cursor at{8, 3, 0};
  const auto given = given_simulated(without, image(), 1, at);
  io::write_npy(folder / "y.npy", without->simulate(image(), at)[0]);
  const auto read = make("data: {file: o.npz, values: y.npy}" + rest);
  const auto x = uniform({5, 0, 0}, Stream::truth, at::empty({3, 1, 8, 8}, at::kDouble));
  EXPECT_LT(test::relative_error(given->value(x), read->value(x)), 1e-12);
  EXPECT_LT(test::relative_error(given->grad(x), read->grad(x)), 1e-12);
  EXPECT_FALSE(takes_many_measurements(*without));
  EXPECT_TRUE(test::contains(test::message_of([&] { given_simulated(without, x, 1, at); }), "3 at once"));
}

}  // namespace
}  // namespace penumbra
