/// The random measurements of compressed sensing: statistics, determinism, storage, norms.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/named.h"
#include "core/random.h"
#include "io/npy.h"
#include "likelihoods/gaussian.h"
#include "models/dense.h"
#include "support/message.h"
#include "support/numbers.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::numbers;

std::shared_ptr<const ForwardModel> make_model(const std::string& kind, const std::string& options, Shape shape,
                                               Placement placement = {at::kDouble, at::kCPU}) {
  auto settings = Settings::from_text(options, "test.yaml");
  std::shared_ptr<const ForwardModel> model =
      find_named(forward_model_entries(), kind)->make(settings, shape, placement);
  settings.finish();
  return model;
}

Tensor matrix_of(const std::string& kind, const std::string& options, Shape shape) {
  return dense_matrix(*make_model(kind, options, shape), {at::kDouble, at::kCPU});
}

double power_iteration(const ForwardModel& A, int iterations) {
  Shape shape = A.image_shape();
  shape.insert(shape.begin(), 1);
  auto v = numbers(8, shape, 5);
  double norm = 0;
  for (int i = 0; i < iterations; ++i) {
    v = A.vjp(v, A.apply(v / v.norm()));
    norm = v.norm().item<double>();
  }
  return norm;
}

TEST(GaussianMatrix, EntriesAreIndependentNormalWithVarianceOneOverM) {
  const auto A = matrix_of("gaussian", "{ratio: 0.5, matrix_seed: 1}", {1, 20, 20});
  const int64_t m = 200, n = 400;
  ASSERT_EQ(A.sizes(), (at::IntArrayRef{m, n}));
  const auto z = A * std::sqrt(static_cast<double>(m));
  const double count = static_cast<double>(m * n);
  // Four standard errors: of a mean 1/sqrt(N), of a variance sqrt(2/N), of a fourth moment sqrt(96/N).
  EXPECT_NEAR(z.mean().item<double>(), 0, 4 / std::sqrt(count));
  EXPECT_NEAR(z.square().mean().item<double>(), 1, 4 * std::sqrt(2 / count));
  EXPECT_NEAR(z.pow(4).mean().item<double>(), 3, 4 * std::sqrt(96 / count));
  // |column|^2 has mean 1 and SD sqrt(2/m); five of them bound the largest of 400.
  EXPECT_LT((A.square().sum(0) - 1).abs().max().item<double>(), 5 * std::sqrt(2.0 / m));
  // Products of neighbours, along rows and columns.
  EXPECT_NEAR((z.narrow(1, 1, n - 1) * z.narrow(1, 0, n - 1)).mean().item<double>(), 0, 4 / std::sqrt(count));
  EXPECT_NEAR((z.narrow(0, 1, m - 1) * z.narrow(0, 0, m - 1)).mean().item<double>(), 0, 4 / std::sqrt(count));
}

TEST(GaussianMatrix, AnEntryDependsOnItsSeedRowAndColumnAlone) {
  const auto few = matrix_of("gaussian", "{rows: 3, matrix_seed: 1}", {1, 5, 5}) * std::sqrt(3.0);
  const auto many = matrix_of("gaussian", "{rows: 9, matrix_seed: 1}", {1, 5, 5}) * std::sqrt(9.0);
  const auto wide = matrix_of("gaussian", "{rows: 3, matrix_seed: 1}", {1, 6, 5}) * std::sqrt(3.0);
  const auto other = matrix_of("gaussian", "{rows: 3, matrix_seed: 2}", {1, 5, 5}) * std::sqrt(3.0);
  EXPECT_LT(test::relative_error(many.narrow(0, 0, 3), few), 1e-14);
  EXPECT_LT(test::relative_error(wide.narrow(1, 0, 25), few), 1e-14);
  EXPECT_GT(test::relative_error(other, few), 0.1);
}

/// Of `options` against the matrix held in the precision of the run; 1300 rows of 128x128 are two blocks.
void expect_close(const std::string& options, at::ScalarType type, double rounding) {
  const Placement placement{type, at::kCPU};
  const Shape shape{1, 128, 128};
  const auto held = make_model("gaussian", "{rows: 1300, matrix_seed: 4}", shape, placement);
  const auto other = make_model("gaussian", "{rows: 1300, matrix_seed: 4, " + options + "}", shape, placement);
  const auto x = numbers(8, {2, 1, 128, 128}, 1, type), r = numbers(8, {2, 1300}, 2, type);
  const auto Ax = other->apply(x), ATr = other->vjp(x, r);
  EXPECT_LT(test::relative_error(Ax, held->apply(x)), rounding) << options;
  EXPECT_LT(test::relative_error(ATr, held->vjp(x, r)), rounding) << options;
  // The adjoint is that of the rounded matrix: <Ax, r> = <x, A^T r> to the arithmetic, whatever the storage.
  const double left = (Ax.to(at::kDouble) * r).sum().item<double>(),
               right = (x.to(at::kDouble) * ATr).sum().item<double>();
  const double size = Ax.norm().item<double>() * r.norm().item<double>();
  EXPECT_LT(std::abs(left - right) / size, type == at::kDouble ? 1e-14 : 1e-6) << options;
}

TEST(GaussianMatrix, DrawnAgainInBlocksIsTheHeldMatrix) {
  expect_close("memory_megabytes: 0", at::kFloat, 1e-5);
  expect_close("memory_megabytes: 0", at::kDouble, 1e-12);
}

TEST(GaussianMatrix, HalfStorageRoundsEachEntryOnce) {
  // The sum of n roundings, each uniform within 2^-12 (2^-9) of an entry, in the maximum norm of 1300 sums.
  expect_close("storage: float16", at::kFloat, 2 * 0x1p-12);
  expect_close("storage: bfloat16", at::kFloat, 2 * 0x1p-9);
  expect_close("storage: float16, memory_megabytes: 0", at::kFloat, 2 * 0x1p-12);
}

TEST(GaussianMatrix, ItsNormIsThatOfPowerIterationAndNearTheEdge) {
  const auto A = make_model("gaussian", "{ratio: 0.3, matrix_seed: 2}", {1, 40, 40});
  const GaussianLikelihood g(A, numbers(8, A->data_shape(), 3), 1);
  const double norm = *g.lipschitz();
  EXPECT_NEAR(norm, power_iteration(*A, 3000), 1e-4 * norm);
  // Marchenko and Pastur: (1 + sqrt(n/m))^2 = 7.98 with fluctuations of order n^(-2/3).
  EXPECT_NEAR(norm, std::pow(1 + std::sqrt(1 / 0.3), 2), 0.05 * norm);
}

TEST(SubsampledTransform, RowsAreOrthogonalWithTheExactNorm) {
  for (const auto* transform : {"dct", "hadamard"}) {
    const auto options = fmt::format("{{ratio: 0.3, matrix_seed: 5, transform: {}}}", transform);
    const auto A = matrix_of("subsampled_transform", options, {1, 16, 16});
    const int64_t m = 76;
    ASSERT_EQ(A.size(0), m);
    EXPECT_LT((A.matmul(A.t()) - 256.0 / m * at::eye(m, A.options())).abs().max().item<double>(), 1e-12) << transform;
    const auto model = make_model("subsampled_transform", options, {1, 16, 16});
    EXPECT_NEAR(*model->norm_squared(), 256.0 / m, 1e-13);
    EXPECT_NEAR(power_iteration(*model, 20), 256.0 / m, 1e-10) << transform;
    // Entries have variance 1/m: those of the Hadamard transform are all of this size.
    EXPECT_NEAR(A.square().mean().item<double>(), 1.0 / m, 1e-3 / m) << transform;
    EXPECT_NEAR(A.mean().item<double>(), 0, 4 / std::sqrt(m * m * 256.0)) << transform;
  }
}

TEST(SubsampledTransform, TheDctIsTheCosineSum) {
  // All rows, in order: without the signs, which are those of the first row, the matrix is the DCT-II.
  const int64_t n = 30;
  const auto A = matrix_of("subsampled_transform", "{rows: 30, matrix_seed: 1}", {1, 6, 5});
  const auto k = at::arange(n, A.options());
  auto cosines = (at::outer(k, k + 0.5) * M_PI / n).cos() * std::sqrt(2.0 / n);
  cosines[0] *= std::sqrt(0.5);
  EXPECT_LT((A - cosines * A[0].sign()).abs().max().item<double>(), 1e-14);
  EXPECT_LT(std::abs(A[0].sign().sum().item<double>()), n);
}

TEST(SubsampledTransform, TheSeedChoosesRowsAndSigns) {
  const auto one = matrix_of("subsampled_transform", "{ratio: 0.3, matrix_seed: 1}", {1, 8, 8});
  EXPECT_TRUE(one.equal(matrix_of("subsampled_transform", "{ratio: 0.3, matrix_seed: 1}", {1, 8, 8})));
  EXPECT_FALSE(one.equal(matrix_of("subsampled_transform", "{ratio: 0.3, matrix_seed: 2}", {1, 8, 8})));
}

TEST(CompressedSensing, RatioCountsTheRows) {
  EXPECT_EQ(make_model("gaussian", "{ratio: 0.29}", {1, 10, 10})->data_shape(), Shape{29});
  EXPECT_EQ(make_model("gaussian", "{ratio: 0.1}", {1, 6, 5})->data_shape(), Shape{3});
}

TEST(CompressedSensing, WrongOptionsAreRefused) {
  const auto message = [](const std::string& kind, const std::string& options) {
    return test::message_of([&] { make_model(kind, options, {1, 6, 5}); });
  };
  EXPECT_NE(message("gaussian", "{ratio: 0.01}").find("less than one measurement"), std::string::npos);
  EXPECT_NE(message("gaussian", "{ratio: 0.1, rows: 3}").find("found both"), std::string::npos);
  EXPECT_NE(message("gaussian", "{}").find("ratio: missing"), std::string::npos);
  EXPECT_NE(message("subsampled_transform", "{ratio: 1.5}").find("expected a number in (0, 1]"), std::string::npos);
  EXPECT_NE(message("subsampled_transform", "{ratio: 0.5, transform: hadamard}").find("power of two"),
            std::string::npos);
}

TEST(Dense, IsTheMatrixOfItsFile) {
  const auto folder = test::scratch();
  const auto A = numbers(8, {4, 30}, 3), x = numbers(8, {2, 1, 6, 5}, 1), r = numbers(8, {2, 4}, 2);
  io::write_npy(folder / "A.npy", A);
  const auto model = make_model("dense", fmt::format("{{matrix: {}}}", (folder / "A.npy").string()), {1, 6, 5});
  EXPECT_LT(test::relative_error(model->apply(x), flat(x).matmul(A.t())), 1e-14);
  EXPECT_LT(test::relative_error(model->vjp(x, r), r.matmul(A).view_as(x)), 1e-14);
  EXPECT_THROW(make_model("dense", fmt::format("{{matrix: {}}}", (folder / "A.npy").string()), {1, 5, 5}), InputError);
}

}  // namespace
}  // namespace penumbra
