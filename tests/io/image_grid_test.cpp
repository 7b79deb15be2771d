#include "io/image_grid.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace penumbra::io {
namespace {

TEST(ImageGrid, PutsImagesRowByRowWithAPixelBetween) {
  const auto images = at::arange(5, at::kDouble).reshape({5, 1, 1, 1}).expand({5, 1, 2, 3}) + 1;
  const auto page = image_grid(images);
  // Three across, two down: 2 * 3 - 1 rows, 3 * 4 - 1 columns.
  ASSERT_EQ(page.sizes(), (std::vector<int64_t>{5, 11}));
  EXPECT_TRUE(page.narrow(0, 0, 2).narrow(1, 4, 3).eq(2).all().item<bool>());
  EXPECT_TRUE(page.narrow(0, 3, 2).narrow(1, 0, 3).eq(4).all().item<bool>());
  EXPECT_TRUE(page.select(0, 2).eq(1).all().item<bool>());
  EXPECT_TRUE(page.narrow(0, 3, 2).narrow(1, 8, 3).eq(1).all().item<bool>());
}

TEST(ImageGrid, ShowsColourOrTheFirstChannel) {
  EXPECT_EQ(image_grid(at::rand({4, 3, 2, 2})).sizes(), (std::vector<int64_t>{3, 5, 5}));
  const auto two = at::rand({1, 2, 4, 4});
  EXPECT_TRUE(image_grid(two).equal(two[0][0]));
  EXPECT_THROW(image_grid(at::zeros({0, 1, 2, 2})), std::invalid_argument);
  EXPECT_THROW(image_grid(at::zeros({2, 2})), std::invalid_argument);
}

TEST(ImageGrid, MapsTheRangeToBytes) {
  const auto image = at::tensor({-3.0, -1.0, 0.0, 1.0, 7.0, NAN, INFINITY, -INFINITY});
  const auto expected = at::tensor({0, 0, 128, 255, 255, 0, 255, 0}, at::kByte);
  EXPECT_TRUE(to_bytes(image, -1, 1).equal(expected)) << to_bytes(image, -1, 1);
  EXPECT_TRUE(to_bytes(at::full({2}, 3.0), 3, 3).eq(0).all().item<bool>());
}

}  // namespace
}  // namespace penumbra::io
