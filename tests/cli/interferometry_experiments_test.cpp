/// The experiments on black holes as a user runs them, shortened by methods of a few steps.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/message.h"
#include "support/paths.h"
#include "support/program.h"

namespace penumbra::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json record(const fs::path& out) { return json::parse(read_text(out / "run.json")); }

TEST(InterferometryExperiments, BlackholeWritesItsFilesAndKeepsWhatIsDone) {
  const auto folder = scratch(), out = folder / "out", methods = folder / "methods.yaml";
  write_text(methods, "MEM: {kind: rml, entropy: 1, steps: 1, inner_steps: 5}\nTV: {kind: rml, tv: 1, steps: 1}\n");
  const std::vector<std::string> command{"experiment",         "blackhole", "--count",        "2",     "--prior",
                                         "blackhole-64-small", "--methods", methods.string(), "--out", out.string()};
  const auto first = penumbra(command);
  ASSERT_EQ(first.code, 0) << first.err;
  for (const auto* name : {"table.md", "images.csv", "run.json", "report.html", "contact-sheet.png", "kept/MEM.2.json"})
    EXPECT_TRUE(fs::exists(out / name)) << name;
  EXPECT_EQ(record(out)["experiment"].get<std::string>(), "blackhole");
  EXPECT_EQ(record(out)["settings"]["prior"].get<std::string>(), "blackhole-64-small");
  EXPECT_TRUE(contains(read_text(out / "table.md"), "prior blackhole-64-small"));
  const auto csv = read_text(out / "images.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);  // a header, two methods on two images
  // Kept cells come back with the seconds that they took, to the digit; new ones would have others.
  const auto seconds = record(out)["seconds"];
  ASSERT_EQ(penumbra(command).code, 0);
  EXPECT_EQ(record(out)["seconds"], seconds);
  EXPECT_EQ(read_text(out / "images.csv"), csv);
}

TEST(InterferometryExperiments, PriorsThatDoNotFitAreRefused) {
  const auto out = (scratch() / "out").string();
  const auto of_brains = penumbra({"experiment", "bimodal", "--prior", "brain-64", "--out", out});
  EXPECT_EQ(of_brains.code, 2);
  EXPECT_TRUE(contains(of_brains.err, "--prior: expected a prior of one channel with pixels in [0, 1]"))
      << of_brains.err;
  const auto elsewhere = penumbra({"experiment", "cs", "--prior", "blackhole-64", "--out", out});
  EXPECT_EQ(elsewhere.code, 2);
  EXPECT_TRUE(contains(elsewhere.err, "--prior: expected with blackhole or bimodal, found with cs")) << elsewhere.err;
}

TEST(InterferometryExperiments, BlackholeRefusesAFolderWithoutImages) {
  const auto folder = scratch();
  const auto result =
      penumbra({"experiment", "blackhole", "--images", folder.string(), "--out", (folder / "out").string()});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(contains(result.err, "expected images (.fits, .npy")) << result.err;
}

/// T1, T1b and T2 are as in the quick version; the learned prior takes two steps, which is enough for the files.
TEST(InterferometryExperiments, BimodalPassesItsExactTestsAndSortsTheSamples) {
  const auto folder = scratch(), out = folder / "out", methods = folder / "methods.yaml";
  write_text(methods,
             "APMC-PnP: {kind: apmc-pnp, steps: 2, step_size: 1e-5, schedule: {sigma_0: 1, sigma_min: 0.1, xi: 0.5, "
             "alpha_0: 100}}\n");
  const auto result = penumbra(
      {"experiment", "bimodal", "--quick", "--chains", "20", "--methods", methods.string(), "--out", out.string()});
  ASSERT_EQ(result.code, 0) << result.out << result.err;
  for (const auto* name : {"table.md", "analytic.csv", "samples.csv", "report.html", "APMC-PnP-map.svg",
                           "APMC-PnP-chi2.svg", "APMC-PnP/modes.json", "APMC-PnP/ring.csv", "APMC-PnP/samples.npy"})
    EXPECT_TRUE(fs::exists(out / name)) << name;
  const auto found = record(out);
  ASSERT_EQ(found["checks"].size(), 6u);
  for (const auto& check : found["checks"])
    EXPECT_TRUE(check["passed"].get<bool>()) << check["claim"].get<std::string>();
  const auto csv = read_text(out / "samples.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 21);
}

}  // namespace
}  // namespace penumbra::test
