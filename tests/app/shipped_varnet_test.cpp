/// The reconstruction networks of priors/: each is whole, described, and better at its own acceleration than the
/// adjoint and than the network of the other.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "app/experiments/linear/reconstruction.h"
#include "io/file.h"
#include "priors/network.h"
#include "support/message.h"
#include "support/paths.h"

namespace penumbra::app::linear {
namespace {

namespace fs = std::filesystem;

struct ShippedVarNets : testing::TestWithParam<const char*> {};

TEST_P(ShippedVarNets, HasACardAndItsConfiguration) {
  const fs::path file = shipped_prior(GetParam());
  EXPECT_LE(fs::file_size(file), 31e6);
  EXPECT_TRUE(fs::exists(fs::path(file).replace_extension("yaml")));
  const auto card = io::read_file(fs::path(file).replace_extension("md"));
  for (const auto* part : {"licence", "steps of", "Credit: MRI data", "Known limits"})
    EXPECT_TRUE(test::contains(card, part)) << part;
}

INSTANTIATE_TEST_SUITE_P(Every, ShippedVarNets,
                         testing::Values("varnet-8x-64", "varnet-4x-64", "varnet-8x", "varnet-4x"));

/// On slices of a person whom the networks have not seen, or on draws of the prior where there are none.
TEST(ShippedVarNet, IsBestAtWhatItWasTrainedFor) {
  ProblemOptions options;
  options.count = 2;
  options.placement = {at::kFloat, at::kCPU};
  if (const auto brains = test::shared("data/brain256/test")) options.images = *brains;
  for (const auto& task : mri_tasks(true)) {
    const auto problem = make_problem(task, options);
    const auto psnr = [&](const std::string& name) {
      const auto r = reconstruct(problem, {name, fmt::format("{{kind: varnet, name: {}-64, steps: 1}}", name)}, {},
                                 [](const std::string&, int64_t, int64_t) {});
      return r.average(&Quality::psnr);
    };
    const double adjoint = -10 * std::log10((problem.adjoint() - problem.truths).square().mean().item<double>());
    const bool hard = task.key == "mri-8x";
    const double own = psnr(hard ? "varnet-8x" : "varnet-4x"), other = psnr(hard ? "varnet-4x" : "varnet-8x");
    EXPECT_GT(own, adjoint + 3) << task.key;
    EXPECT_GT(own, other) << task.key;
  }
}

}  // namespace
}  // namespace penumbra::app::linear
