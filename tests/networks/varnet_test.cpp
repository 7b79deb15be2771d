/// The variational network: untrained it is gradient descent, and it is told what it needs.
#include "networks/varnet.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "io/weights.h"
#include "priors/network.h"
#include "support/message.h"
#include "support/numbers.h"
#include "support/paths.h"
#include "support/random_weights.h"
#include "training/small_varnet.h"

namespace penumbra {
namespace {

using test::contains;
using test::message_of;
using test::numbers;
using test::varnet_header;

/// A^T (A x - y) for a matrix of 20 rows, of norm about one.
struct Data {
  explicit Data(int64_t channels = 1)
      : A(numbers(4, {20, 64 * channels}, 1, at::kFloat) / 14), y(numbers(4, {3, 20}, 2, at::kFloat)) {}
  Tensor A, y;
  Tensor operator()(const Tensor& x) const { return (flat(x).matmul(A.t()) - y).matmul(A).view_as(x); }
};

ScoreNetwork network_of(const NetworkHeader& header, const std::map<std::string, Tensor>& weights) {
  return bind_network(header, weights, Compute::float32, at::kCPU, "test");
}

TEST(VarNet, UntrainedIsGradientDescentFromTheAdjoint) {
  c10::NoGradGuard no_gradients;
  for (const int64_t channels : {1, 2}) {
    const auto header = varnet_header(3, channels);
    const Data G(channels);
    const auto weights = initial_parameters(Architecture(header.architecture, "test").parameters(), 7);
    auto x = at::zeros({3, channels, 8, 8});
    const auto found = network_of(header, weights).reconstruct(G, x);
    // x_0 = A^T y, and three steps.
    x = G.y.matmul(G.A).view_as(x);
    for (int i = 0; i < 3; ++i) x = x - G(x);
    // The start is A^T y by another order of the same products: their rounding alone.
    EXPECT_LT(test::relative_error(found, x), 1e-6);
    // From the very same start the steps are exact: the corrections are zeros.
    auto exact = -G(at::zeros_like(x));
    for (int i = 0; i < 3; ++i) exact = exact - G(exact);
    EXPECT_TRUE(at::equal(found, exact));
  }
}

TEST(VarNet, ItsStepsAndCorrectionsAreAtWork) {
  c10::NoGradGuard no_gradients;
  const auto header = varnet_header();
  const Data G;
  const auto specs = Architecture(header.architecture, "test").parameters();
  const auto like = at::zeros({3, 1, 8, 8});
  const auto start = initial_parameters(specs, 7);
  const auto reference = network_of(header, start).reconstruct(G, like);
  for (const auto* name :
       {"cascades.0.eta", "cascades.1.eta", "cascades.0.correction.out.bias", "cascades.1.correction.out.weight"}) {
    auto weights = start;
    weights.at(name) = weights.at(name) + 0.1;
    EXPECT_GT(test::relative_error(network_of(header, weights).reconstruct(G, like), reference), 1e-3) << name;
  }
}

TEST(VarNet, AFileHoldsAllOfIt) {
  c10::NoGradGuard no_gradients;
  const auto header = varnet_header();
  const Architecture architecture(header.architecture, "test");
  const auto weights = test::random_weights(architecture);
  const auto file = test::scratch() / "network.safetensors";
  io::write_safetensors(file, weights, header.to_json());
  const auto read = io::read_weights(file);
  const auto again = NetworkHeader::from_json(read.header, file.string());
  EXPECT_TRUE(again.reconstructs());
  EXPECT_EQ(again.to_json(), header.to_json());
  const Data G;
  const auto like = at::zeros({3, 1, 8, 8});
  EXPECT_TRUE(at::equal(network_of(again, read.tensors).reconstruct(G, like),
                        network_of(header, weights).reconstruct(G, like)));
}

/// The iterates stay float32: bfloat16, of 8 bits, rounds the corrections alone.
TEST(VarNet, AShortTypeRoundsTheCorrectionsAlone) {
  c10::NoGradGuard no_gradients;
  const auto header = varnet_header();
  const Architecture architecture(header.architecture, "test");
  const Data G;
  const auto like = at::zeros({3, 1, 8, 8});
  const auto specs = architecture.parameters();
  const auto in_short = [&](const std::map<std::string, Tensor>& weights) {
    return bind_network(header, weights, Compute::bfloat16, at::kCPU, "test").reconstruct(G, like);
  };
  const auto untrained = initial_parameters(specs, 7), random = test::random_weights(architecture);
  EXPECT_TRUE(at::equal(in_short(untrained), network_of(header, untrained).reconstruct(G, like)));
  const double error = test::relative_error(in_short(random), network_of(header, random).reconstruct(G, like));
  EXPECT_GT(error, 0);
  EXPECT_LT(error, 0.05);  // a few roundings of 2^-9 through two cascades
}

TEST(VarNet, IsNoDenoiserAndNeedsTheData) {
  const auto header = varnet_header();
  const auto network =
      network_of(header, initial_parameters(Architecture(header.architecture, "test").parameters(), 7));
  const auto x = at::zeros({1, 1, 8, 8}), sigma = at::ones({1});
  EXPECT_TRUE(contains(message_of([&] { network.denoise(x, sigma); }), "expected a denoiser"));
  EXPECT_TRUE(contains(message_of([&] { network.score(x, sigma); }), "expected a denoiser"));
  EXPECT_TRUE(contains(message_of([&] { (*network.network)({x, {}, {}}); }), "varnet: expected the gradient"));
  auto denoiser = network;
  denoiser.parameterisation.kind = Parameterisation::Kind::karras;
  EXPECT_TRUE(contains(message_of([&] { denoiser.reconstruct(Data(), x); }), "found a denoiser"));
}

TEST(VarNet, WrongOptionsAreNamed) {
  const auto refused = [](const char* key, const nlohmann::json& value) {
    auto options = varnet_header().architecture;
    options[key] = value;
    return message_of([&] { Architecture(options, "file"); });
  };
  EXPECT_TRUE(contains(refused("cascades", 0), "file: architecture.cascades"));
  EXPECT_TRUE(contains(refused("channel_mult", nlohmann::json::array()), "architecture.channel_mult"));
  EXPECT_TRUE(contains(refused("channel_mult", {1, 0.01}), "0.01 x 6 channels"));
  EXPECT_TRUE(contains(refused("dropout", 0.1), "dropout"));
}

}  // namespace
}  // namespace penumbra
