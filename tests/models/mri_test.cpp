/// The MRI operator: what ForwardModel's contract promises, with complex data, in every arrangement that it knows.
#include "models/mri.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/random.h"
#include "likelihoods/gaussian.h"
#include "models/adjoint.h"
#include "models/dense.h"
#include "models/fourier.h"
#include "models/sampling_mask.h"
#include "support/devices.h"
#include "support/numbers.h"
#include "support/paths.h"

namespace penumbra {
namespace {

using test::numbers;

Tensor complex(const Shape& shape, int64_t k) {
  return at::complex(numbers(17, shape, k), numbers(17, shape, k + 100));
}

/// A scan of odd and even extents, larger and smaller than the image.
struct MriCase {
  std::string name;
  Shape image;
  int64_t height, width, coils;
  bool phase;
  MriOrientation orientation;
};

MriModel make_mri(const MriCase& c, const Placement& where) {
  MriOptions options;
  options.mask = numbers(17, {c.height, c.width}, 1) > 0;
  if (c.coils > 1) options.coils = complex({c.coils, c.height, c.width}, 2);
  if (c.phase) options.phase = complex({c.height, c.width}, 3).sgn();
  options.gain = 1.7;
  options.orientation = c.orientation;
  return {c.image, options, where};
}

struct Mri : testing::TestWithParam<std::tuple<MriCase, at::DeviceType>> {
  static const MriCase& arrangement() { return std::get<0>(GetParam()); }
  static at::DeviceType device() { return std::get<1>(GetParam()); }
  MriModel A = make_mri(arrangement(), {at::kDouble, device()});
  Shape batch(Shape shape) const {
    shape.insert(shape.begin(), 3);
    return shape;
  }
  Tensor image(int64_t k) const { return numbers(17, batch(A.image_shape()), k).to(device()); }
  Tensor x = image(4), r = complex(batch(A.data_shape()), 5).to(device());
};

TEST_P(Mri, AdjointIdentity) {
  EXPECT_LT(test::adjoint_mismatch(A, x, r), 1e-12);
  EXPECT_LT(test::adjoint_mismatch(make_mri(arrangement(), {at::kFloat, device()}), x.to(at::kFloat),
                                   r.to(at::kComplexFloat)),
            1e-5);
}

TEST_P(Mri, ChainsDoNotTouchEachOther) {
  const auto all = A.apply(x);
  for (int64_t c = 0; c < 3; ++c)
    EXPECT_LT(test::relative_error(A.apply(x.narrow(0, c, 1)), all.narrow(0, c, 1)), 1e-13);
}

TEST_P(Mri, IsLinear) {
  const auto other = image(6);
  EXPECT_LT(test::relative_error(A.apply(2 * x - 3 * other), 2 * A.apply(x) - 3 * A.apply(other)), 1e-12);
}

TEST_P(Mri, LikelihoodGradientIsItsFiniteDifference) {
  const GaussianLikelihood g(std::make_shared<MriModel>(A), r[0], 0.3);
  const auto v = image(7);
  const double h = 1e-6;
  const auto slope = (g.value(x + h * v) - g.value(x - h * v)) / (2 * h);
  EXPECT_LT(test::relative_error((g.grad(x) * v).flatten(1).sum(1), slope), 1e-7);
}

TEST_P(Mri, NormByPowerIterationIsTheLargestSingularValue) {
  const GaussianLikelihood g(std::make_shared<MriModel>(A), r[0], 1);
  const auto columns = at::view_as_real(dense_matrix(A, {at::kDouble, device()}).t().contiguous()).flatten(1);
  const double exact = at::linalg_eigvalsh(columns.matmul(columns.t())).max().item<double>();
  // The largest singular values of a mask lie close together: the iteration ends when it gains less than 1e-9 a step.
  EXPECT_NEAR(*g.lipschitz(), exact, 1e-3 * exact);
}

TEST_P(Mri, GridHoldsTheDataAndZeros) {
  const auto grid = A.to_grid(r);
  EXPECT_EQ(grid.size(3), arrangement().width);
  EXPECT_TRUE(A.from_grid(grid).equal(r));
  EXPECT_EQ(grid.ne(0).sum().item<int64_t>(), r.numel());
}

TEST_P(Mri, RefusesAWrongShape) {
  EXPECT_THROW(A.apply(x.narrow(2, 0, 3)), InputError);
  EXPECT_THROW(A.vjp(x, r.flatten()), InputError);
}

INSTANTIATE_TEST_SUITE_P(Arrangements, Mri,
                         testing::Combine(testing::Values(MriCase{"single", {1, 6, 8}, 6, 8, 1, false, {}},
                                                          MriCase{"odd", {1, 7, 5}, 7, 5, 1, true, {}},
                                                          MriCase{"coils", {1, 6, 8}, 6, 8, 3, true, {}},
                                                          MriCase{"complex", {2, 6, 8}, 6, 8, 3, false, {}},
                                                          MriCase{"cropped", {1, 9, 10}, 6, 7, 2, false, {1, true}},
                                                          MriCase{"padded", {2, 6, 5}, 11, 9, 2, false, {3, false}},
                                                          MriCase{"both", {1, 6, 10}, 9, 7, 2, true, {2, true}}),
                                          testing::ValuesIn(test::devices())),
                         [](const auto& info) {
                           return std::get<0>(info.param).name + "_" + test::name_of(std::get<1>(info.param));
                         });

TEST(MriModel, IsTheFormula) {
  MriOptions options;
  options.mask = numbers(17, {7, 6}, 1) > 0;
  options.coils = complex({2, 7, 6}, 2);
  options.phase = complex({7, 6}, 3).sgn();
  options.gain = 0.4;
  options.orientation = {1, true};
  const MriModel A({1, 6, 7}, options, {});
  const auto x = numbers(17, {1, 1, 6, 7}, 4);
  const auto scene = x[0][0].rot90(1, {0, 1}).flip({1});
  const auto expected = centred_fft(options.coils * options.phase * (0.4 * scene)) * options.mask;
  EXPECT_LT(test::relative_error(A.to_grid(A.apply(x))[0], expected), 1e-13);
}

TEST(MriModel, FitKeepsTheCentre) {
  // A point at the image's centre has the same value everywhere in k-space, whatever the sizes.
  for (const auto& [height, width] : {std::pair<int64_t, int64_t>{5, 8}, {12, 7}, {8, 8}}) {
    MriOptions options;
    options.mask = at::ones({height, width}, at::kBool);
    const MriModel A({1, 8, 7}, options, {});
    auto x = at::zeros({1, 1, 8, 7}, at::kDouble);
    x[0][0][4][3] = 1;
    const auto expected = 1 / std::sqrt(static_cast<double>(height * width));
    EXPECT_LT((A.apply(x) - expected).abs().max().item<double>(), 1e-14) << height << "x" << width;
  }
}

TEST(MriModel, OneCoilHasNormAtMostOne) {
  MriOptions options;
  options.mask = radial_mask(16, 12, 5);
  const auto A = std::make_shared<MriModel>(Shape{1, 16, 12}, options, Placement{});
  const auto L = *GaussianLikelihood(A, complex(A->data_shape(), 1), 1).lipschitz();
  EXPECT_LT(L, 1 + 1e-12);
  // The mask holds whole pairs of opposite points, so an image of one of its waves is kept entirely.
  EXPECT_NEAR(L, 1, 1e-6);
}

TEST(MriModel, FourierIsOrthonormalAndCentred) {
  for (const auto& [height, width] : {std::pair<int64_t, int64_t>{5, 8}, {7, 7}, {6, 4}}) {
    const auto x = complex({2, height, width}, 3);
    EXPECT_LT(test::relative_error(centred_ifft(centred_fft(x)), x), 1e-14);
    EXPECT_NEAR(centred_fft(x).norm().item<double>(), x.norm().item<double>(), 1e-12);
    const auto flat_image = at::ones({height, width}, at::kDouble);
    auto spike = at::zeros({height, width}, at::kComplexDouble);
    spike[height / 2][width / 2] = std::sqrt(static_cast<double>(height * width));
    EXPECT_LT((centred_fft(flat_image) - spike).abs().max().item<double>(), 1e-13);
  }
}

TEST(MriModel, RefusesWhatCannotBe) {
  MriOptions options;
  options.mask = at::zeros({6, 6}, at::kBool);
  EXPECT_THROW(MriModel({1, 6, 6}, options, {}), InputError);
  options.mask.fill_(true);
  EXPECT_THROW(MriModel({3, 6, 6}, options, {}), InputError);
  options.coils = complex({2, 5, 6}, 1);
  EXPECT_THROW(MriModel({1, 6, 6}, options, {}), InputError);
}

}  // namespace
}  // namespace penumbra
