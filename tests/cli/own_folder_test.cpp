/// Nobody's file is written over, and what is one's own goes on.
#include <gtest/gtest.h>
#include <signal.h>

#include <map>

#include "support/message.h"
#include "support/paths.h"
#include "support/program.h"

namespace penumbra::test {
namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[entry.path().string()] = read_text(entry.path());
  return files;
}

/// Exit code 2, a line that names the folder and says what was expected, and every file as it was.
void expect_untouched(const std::vector<std::string>& args, const fs::path& folder, const std::string& expected) {
  const auto before = files_in(folder);
  const auto result = penumbra(args);
  EXPECT_EQ(result.code, 2) << result.out << result.err;
  EXPECT_TRUE(contains(result.err, folder.string())) << result.err;
  EXPECT_TRUE(contains(result.err, expected)) << result.err;
  EXPECT_EQ(files_in(folder), before);
}

TEST(OwnFolder, ARunBeginsInNoFolderOfOthers) {
  const auto config = small_problem();
  const std::string expected = "expected a new or empty folder, or that of a run";
  for (const auto* name : {"summary.json", "mean.npy", "notes.txt", "config.yaml"})
    for (const bool resume : {false, true}) {
      const auto folder = scratch();
      write_text(folder / name, "{}");
      std::vector<std::string> args{"sample", config.string(), "--out", folder.string()};
      if (resume) args.emplace_back("--resume");
      expect_untouched(args, folder, expected);
    }
  const auto folder = scratch();
  fs::create_directory(folder / "inputs");
  write_text(folder / "inputs" / "truth.npy", "somebody's");
  expect_untouched({"demo", "--scene", "brain", "--quick", "--out", folder.string()}, folder, expected);
}

TEST(OwnFolder, ADemoResumesNoRunOfAnother) {
  const auto folder = scratch() / "run";
  ASSERT_EQ(penumbra({"sample", small_problem().string(), "--out", folder.string()}).code, 0);
  expect_untouched({"demo", "--scene", "brain", "--quick", "--resume", "--out", folder.string()}, folder,
                   "expected a demo that this command began");
}

TEST(OwnFolder, ARunBeginsInANewAnEmptyOrABegunOne) {
  const auto config = small_problem();
  const auto fresh = config.parent_path() / "new", empty = scratch(), begun = scratch();
  // What a kill before the first step may leave.
  write_text(begun / "provenance.json", "{}");
  write_text(begun / ".penumbra-12-0.tmp", "");
  for (const auto& folder : {fresh, empty, begun}) {
    const auto result = penumbra({"sample", config.string(), "--out", folder.string(), "--resume"});
    EXPECT_EQ(result.code, 0) << result.err;
  }
}

TEST(OwnFolder, AnExperimentGoesOnInItsOwn) {
  const auto folder = scratch(), out = folder / "out", methods = folder / "methods.yaml";
  write_text(methods, "MEM: {kind: rml, entropy: 1, steps: 1, inner_steps: 5}\nTV: {kind: rml, tv: 1, steps: 1}\n");
  const std::vector<std::string> command{"experiment", "blackhole",      "--count", "2",
                                         "--methods",  methods.string(), "--out",   out.string()};
  ASSERT_EQ(kill_once_there(command, out / "kept" / "MEM.1.json"), -SIGKILL);
  ASSERT_FALSE(fs::exists(out / "run.json"));
  const std::vector<std::string> another{"experiment", "cs", "--quick", "--out", out.string()};
  const std::string expected = "expected a new or empty folder, or that of the experiment cs";
  expect_untouched(another, out, expected);
  const auto result = penumbra(command);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(fs::exists(out / "run.json"));
  EXPECT_FALSE(fs::exists(out / "experiment.begun"));
  expect_untouched(another, out, expected);
}

TEST(OwnFolder, AnExperimentBeginsInNoFolderOfOthers) {
  for (const auto* name : {"run.json", "table.md"}) {
    const auto out = scratch();
    write_text(out / name, "somebody's");
    expect_untouched({"experiment", "validation-2d", "--quick", "--out", out.string()}, out,
                     "expected a new or empty folder, or that of the experiment validation-2d");
  }
}

TEST(OwnFolder, GenerateWritesOverWhatTheSameCommandMade) {
  const auto folder = scratch(), out = folder / "out";
  write_text(folder / "prior.yaml", "{kind: gaussian, image_shape: [1, 4, 4], mean: 2, variance: 0.25}");
  const auto draw = [&](const std::string& seed) {
    return std::vector<std::string>{
        "generate", "--prior", (folder / "prior.yaml").string(), "--count", "2", "--seed", seed, "--out", out.string()};
  };
  ASSERT_EQ(penumbra(draw("1")).code, 0);
  const auto samples = read_text(out / "samples.npy");
  fs::remove(out / "samples.npy");  // as where a kill came
  write_text(out / "notes.txt", "somebody's");
  EXPECT_EQ(penumbra(draw("1")).code, 0);
  EXPECT_EQ(read_text(out / "samples.npy"), samples);
  expect_untouched(draw("2"), out, "expected another folder for --out");
  for (const auto* name : {"samples.json", "samples.png", "samples.npy"}) fs::remove(out / name);
  expect_untouched(draw("1"), out, "sd.npy: is there already");
}

}  // namespace
}  // namespace penumbra::test
