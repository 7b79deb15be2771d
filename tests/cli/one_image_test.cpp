/// Deterministic methods make one image: nothing that a run says of it may look like a posterior's uncertainty.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "io/npy.h"
#include "support/message.h"
#include "support/paths.h"
#include "support/program.h"

namespace penumbra::test {
namespace {

using nlohmann::json;

TEST(OneImage, HasNoUncertainty) {
  const auto folder = scratch();
  const auto truth = at::linspace(-1, 1, 256, at::kDouble).reshape({1, 16, 16});
  io::write_npy(folder / "truth.npy", truth);
  write_text(folder / "config.yaml", R"(
prior: {kind: random_field, side: 16}
likelihood: {kind: inpainting, fraction: 0.5, noise_sd: 0.1, data: y.npy}
sampler: {kind: tv, steps: 5, lambda: 0.1}
chains: 1
)");
  const auto config = (folder / "config.yaml").string(), run = (folder / "run").string();
  const auto call = [](const std::vector<std::string>& words) {
    const auto result = penumbra(words);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  };
  call({"observe", config, "--truth", (folder / "truth.npy").string(), "--out", (folder / "y.npy").string()});
  call({"sample", config, "--out", run});
  const auto metrics = json::parse(call({"evaluate", run, "--truth", (folder / "truth.npy").string(), "--json"}));
  EXPECT_TRUE(metrics["mse"].is_number());
  for (const auto* key : {"nll", "coverage_3sd", "mean_sd", "calibration"}) EXPECT_TRUE(metrics[key].is_null()) << key;
  const auto report = read_text(folder / "run" / "report.html");
  EXPECT_TRUE(contains(report, "Image of run"));
  for (const auto* words : {"Posterior of", "Standard deviation", "95 % interval", "beyond 3 SD", "anything wrong"})
    EXPECT_FALSE(contains(report, words)) << words;
  // A truth with gaps is refused before the run's files change.
  auto broken = truth.clone();
  broken[0][3][4] = NAN;
  io::write_npy(folder / "broken.npy", broken);
  const auto refused = penumbra({"evaluate", run, "--truth", (folder / "broken.npy").string()});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "broken.npy: expected finite pixels")) << refused.err;
}

}  // namespace
}  // namespace penumbra::test
