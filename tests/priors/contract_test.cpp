/// What every prior promises, run on every registered one that has an example: a new prior adds no test.
#include "priors/contract.h"

#include <ATen/ATen.h>

namespace penumbra {
namespace {

struct PriorContract : testing::TestWithParam<const PriorEntry*> {};

TEST_P(PriorContract, Holds) {
  if (GetParam()->example.empty()) GTEST_SKIP() << GetParam()->name << " needs a file: its own test runs the contract";
  auto settings = Settings::from_text(GetParam()->example, GetParam()->name);
  const auto prior = GetParam()->make(settings, {at::kDouble, at::kCPU});
  settings.finish();
  test::expect_prior_contract(*prior, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(EveryPrior, PriorContract, testing::ValuesIn(prior_entries()),
                         [](const auto& info) { return info.param->name; });

}  // namespace
}  // namespace penumbra
