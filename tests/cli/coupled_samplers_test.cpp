/// smc and replica by `penumbra sample`: runs like any other, which a kill does not change, in one process.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/npy.h"
#include "support/paths.h"
#include "support/program.h"
#include "team/backend.h"

namespace penumbra::test {
namespace {

namespace fs = std::filesystem;

struct CoupledRun : testing::TestWithParam<const char*> {
  fs::path folder = small_problem().parent_path(), config = folder / "coupled.yaml";

  void write_config(const std::string& sampler) const {
    write_text(config, fmt::format(R"(
prior: {{kind: random_field, side: 12, modes: 4}}
likelihood: {{kind: inpainting, fraction: 0.5, noise_sd: 0.1, data: y.npy}}
sampler: {}
chains: {{count: 12, batch: 5}}
seed: 3
output: {{checkpoint_every_steps: 1}}
)",
                                   sampler));
  }
  std::vector<std::string> sample(const std::string& run) const {
    return {"sample", config.string(), "--out", (folder / run).string(), "--device", "cpu"};
  }
};

TEST_P(CoupledRun, AKilledRunContinuesBitForBit) {
  write_config(fmt::format("{{kind: {}, steps: 80}}", GetParam()));
  const auto reference = penumbra(sample("reference"));
  ASSERT_EQ(reference.code, 0) << reference.err;
  expect_resumed(sample("run"), folder / "run", folder / "reference");
  const auto summary = nlohmann::json::parse(read_text(folder / "run" / "summary.json"));
  EXPECT_GT(summary["sampler"]["derived"].size(), 2u) << "what was left open is derived";
  EXPECT_GT(summary["chains"]["records"].get<int>(), 1);
  EXPECT_EQ(io::read_npy(folder / "run" / "samples.npy").sizes(), at::IntArrayRef({12, 1, 12, 12}));
}

TEST_P(CoupledRun, SeveralProcessesAreRefused) {
  if (!can_connect(at::kCPU)) GTEST_SKIP() << "this LibTorch's Gloo cannot be used";
  write_config(fmt::format("{{kind: {}, steps: 10}}", GetParam()));
  for (const auto& result : penumbra_team(2, sample("two"))) {
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("keeps all chains together"), std::string::npos) << result.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, CoupledRun, testing::Values("smc", "replica"));

}  // namespace
}  // namespace penumbra::test
