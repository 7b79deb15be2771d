// Flat and named parameters hold the same numbers, and gradients land beside the values that they belong to.
#include "training/trained_parameters.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "support/paths.h"

namespace penumbra::training {
namespace {

/// A convolution and a linear layer between two small parameters that stay wide, and one that is not trained.
const std::vector<ParameterSpec> specs{
    {"scale", {3}, Initial::one, 1, 1, true, /*wide=*/true},
    {"conv", {3, 2, 3, 5}, Initial::fan_in, 30},
    {"fixed", {4}, Initial::normal, 1, 1, /*trained=*/false, /*wide=*/true},
    {"linear", {6, 3}, Initial::fan_in, 3},
    {"shift", {3}, Initial::normal, 1, 1, true, /*wide=*/true},
};
// Gaps included: each begins at a multiple of 64, so that GPUs can read 16 bytes at once.
constexpr int64_t trained_count = 64 + 128 + 64 + 64;

Tensor random_like(const Tensor& x, int64_t k) { return normal({4, 0, k}, Stream::probe, x.contiguous()); }

struct Layout {
  at::ScalarType compute;
  at::MemoryFormat format;
};

struct Trained : testing::TestWithParam<Layout> {
  std::map<std::string, Tensor> start = initial_parameters(specs, 1);
  TrainedParameters parameters{specs, start, at::kCPU, GetParam().compute, GetParam().format};
  ParameterSource source = parameters.source();

  Tensor leaf(const std::string& name) const {
    for (const auto& spec : specs)
      if (spec.name == name) return source(spec);
    throw std::out_of_range(name);
  }
};

TEST_P(Trained, FlatAndNamedAreTheSame) {
  EXPECT_EQ(parameters.values().sizes(), at::IntArrayRef({trained_count}));
  EXPECT_EQ(parameters.values().scalar_type(), at::kFloat);
  const auto named = parameters.named(parameters.values());
  ASSERT_EQ(named.size(), specs.size());
  for (const auto& [name, tensor] : start) {
    EXPECT_TRUE(at::equal(named.at(name), tensor)) << name;
    EXPECT_TRUE(named.at(name).is_contiguous()) << name;
  }
  EXPECT_TRUE(at::equal(parameters.flat(named), parameters.values()));
  auto other = start;
  for (auto& [name, tensor] : other)
    if (name != "fixed") tensor = random_like(tensor.unsqueeze(0), 1).squeeze(0);
  const auto back = parameters.named(parameters.flat(other));
  for (const auto& [name, tensor] : other) EXPECT_TRUE(at::equal(back.at(name), tensor)) << name;
}

TEST_P(Trained, TheNetworkSeesTheValuesInItsOwnType) {
  const auto check = [&] {
    const auto named = parameters.named(parameters.values());
    for (const auto& spec : specs) {
      const auto type = spec.wide ? at::kFloat : GetParam().compute;
      EXPECT_EQ(leaf(spec.name).scalar_type(), type) << spec.name;
      EXPECT_TRUE(at::equal(leaf(spec.name), named.at(spec.name).to(type))) << spec.name;
      EXPECT_EQ(leaf(spec.name).requires_grad(), spec.trained) << spec.name;
    }
    EXPECT_TRUE(leaf("conv").is_contiguous(GetParam().format));
    for (const auto* name : {"scale", "conv", "linear", "shift"})
      EXPECT_EQ(leaf(name).storage_offset() % 64, 0) << name << ": cuDNN is slow with weights between 16-byte places";
  };
  check();
  {
    c10::NoGradGuard no_gradients;
    parameters.values().mul_(-1.7);
    parameters.refresh();
  }
  check();
  EXPECT_TRUE(at::equal(leaf("fixed"), start.at("fixed")));
}

/// The gradient of sum(c p) is c, exactly, wherever p lies.
TEST_P(Trained, EveryGradientLandsInItsPlace) {
  std::map<std::string, Tensor> coefficients;
  for (const auto& spec : specs)
    if (spec.trained)
      coefficients[spec.name] = random_like(start.at(spec.name), 2).to(spec.wide ? at::kFloat : GetParam().compute);
  const auto backward = [&] {
    auto sum = at::zeros({});
    for (const auto& [name, c] : coefficients) sum = sum + (c * leaf(name)).to(at::kFloat).sum();
    sum.backward();
  };
  const auto expected = parameters.flat(coefficients);
  auto found = at::zeros_like(parameters.values());
  backward();
  parameters.collect_gradient(found);
  EXPECT_TRUE(at::equal(found, expected));
  // Collecting clears: a second time adds once more and not twice.
  backward();
  parameters.collect_gradient(found);
  EXPECT_TRUE(at::equal(found, 2 * expected));
}

Tensor small_network(const std::function<Tensor(const std::string&)>& parameter, const Tensor& x) {
  auto h = at::conv2d(x.to(parameter("conv").scalar_type()), parameter("conv"), {}, 1, at::IntArrayRef{1, 2});
  h = at::silu(h.to(at::kFloat)) * parameter("scale").reshape({1, -1, 1, 1});
  h = h.mean({2, 3}) + parameter("shift");
  h = at::linear(h.to(parameter("linear").scalar_type()), parameter("linear"));
  return h.to(at::kFloat).square().sum();
}

TEST_P(Trained, GradientsAreThoseOfPlainTensors) {
  const auto x = random_like(at::empty({5, 2, 6, 7}), 3);
  small_network([&](const std::string& name) { return leaf(name); }, x).backward();
  auto found = at::zeros_like(parameters.values());
  parameters.collect_gradient(found);

  std::map<std::string, Tensor> plain, gradients;
  for (const auto& spec : specs)
    plain[spec.name] =
        start.at(spec.name).to(spec.wide ? at::kFloat : GetParam().compute).clone().requires_grad_(spec.trained);
  small_network([&](const std::string& name) { return plain.at(name); }, x).backward();
  for (const auto& spec : specs)
    if (spec.trained) gradients[spec.name] = plain.at(spec.name).grad();
  // The same arithmetic but for the order of sums: a few units in the last place, which is 2^-8 in bfloat16.
  const double tolerance = GetParam().compute == at::kFloat ? 1e-5 : 2e-2;
  EXPECT_LT(test::relative_error(found, parameters.flat(gradients)), tolerance);
}

INSTANTIATE_TEST_SUITE_P(Layouts, Trained,
                         testing::Values(Layout{at::kFloat, at::MemoryFormat::Contiguous},
                                         Layout{at::kFloat, at::MemoryFormat::ChannelsLast},
                                         Layout{at::kBFloat16, at::MemoryFormat::Contiguous},
                                         Layout{at::kBFloat16, at::MemoryFormat::ChannelsLast}));

}  // namespace
}  // namespace penumbra::training
