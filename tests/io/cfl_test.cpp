// BART's pairs of files: column-major, and trusted no further than their bytes reach.
#include "io/cfl.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>

#include "io/file.h"
#include "support/message.h"
#include "support/paths.h"

namespace penumbra::io {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::message_of;

std::string floats(std::initializer_list<float> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(float)};
}

/// A pair in a new folder; the stem.
fs::path pair(const std::string& header, const std::string& data) {
  const auto stem = test::scratch() / "scan.1";
  write_file(stem.string() + ".hdr", header);
  write_file(stem.string() + ".cfl", data);
  return stem;
}

std::string cfl_error(const std::string& header, const std::string& data = floats({1, 2})) {
  const auto stem = pair(header, data);
  return message_of([&] { read_cfl(stem); });
}

TEST(Cfl, FirstDimensionRunsFastest) {
  // READ 2, PHS1 3: numbers 0 to 5 down the columns, each with its negative as imaginary part.
  const auto stem = pair("# Dimensions\n2 3 \n", floats({0, 0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5}));
  const auto array = read_cfl(stem);
  ASSERT_EQ(array.dim(), 16);
  const auto plane = array.squeeze();
  const auto expected = at::tensor({0, 2, 4, 1, 3, 5}, at::kFloat).reshape({2, 3});
  EXPECT_TRUE(at::equal(at::real(plane), expected));
  EXPECT_TRUE(at::equal(at::imag(plane), -expected));
}

TEST(Cfl, WritesColumnMajorBytesAndSixteenSizes) {
  const auto stem = test::scratch() / "x";
  write_cfl(stem, at::tensor({0, 1, 2, 3, 4, 5}, at::kFloat).reshape({1, 2, 3}), {cfl_coil});
  EXPECT_EQ(read_file(stem.string() + ".hdr"), "# Dimensions\n2 3 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n");
  EXPECT_EQ(read_file(stem.string() + ".cfl"), floats({0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5, 0}));
}

TEST(Cfl, KeepsEveryNumberThroughAPair) {
  const auto stem = test::scratch() / "x.cfl";
  const auto numbers = at::arange(2 * 3 * 4 * 5, at::kFloat).reshape({2, 3, 4, 5});
  const auto array = at::complex(numbers, 1 - numbers);
  write_cfl(stem, array, {cfl_slice, cfl_coil});
  const auto back = read_cfl(stem);
  EXPECT_EQ(back.size(cfl_slice), 2);
  EXPECT_EQ(back.size(cfl_coil), 3);
  EXPECT_TRUE(at::equal(back.squeeze(), array.permute({2, 3, 1, 0})));
  // What is a view, conjugated and of another type is written as it looks.
  write_cfl(stem, array.to(at::kComplexDouble).conj().transpose(2, 3), {cfl_slice, cfl_coil});
  EXPECT_TRUE(at::equal(read_cfl(stem).squeeze(), array.conj().resolve_conj().permute({3, 2, 1, 0})));
}

TEST(Cfl, TakesEitherNameOrTheStem) {
  const auto stem = pair("# Dimensions\n1 1\n", floats({1, 2}));
  for (const auto* end : {"", ".cfl", ".hdr"}) {
    EXPECT_TRUE(looks_like_cfl(stem.string() + end)) << end;
    EXPECT_EQ(read_cfl(stem.string() + end).numel(), 1) << end;
  }
  EXPECT_FALSE(looks_like_cfl(stem.parent_path() / "scan"));
}

TEST(Cfl, ReadsHeadersAsOtherProgramsWriteThem) {
  for (const auto* header :
       {"# Dimensions\n1\n", "# Dimensions\r\n1 1 1\r\n", "# Creator\nBART\n# Dimensions\n 1\t1 \n",
        "# Dimensions\n1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n# Command\nfft 7 a b\n", "# Dimensions\n1"})
    EXPECT_EQ(cfl_error(header), "") << header;
}

TEST(Cfl, RefusesSizesThatCannotBe) {
  for (const auto* sizes : {"-1", "0", "2 -3", "1.5", "two", "1 2x", "99999999999999999999", "0x10", "+1"})
    EXPECT_TRUE(contains(cfl_error(fmt::format("# Dimensions\n{}\n", sizes)), "scan.1.hdr: dimensions: expected"))
        << sizes;
  EXPECT_TRUE(contains(cfl_error("# Dimensions\n4611686018427387904 2\n"), "is too large"));
  EXPECT_TRUE(contains(cfl_error("# Dimensions\n1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n"), "at most 16 numbers"));
  EXPECT_TRUE(contains(cfl_error("# Dimensions\n"), "found none"));
  EXPECT_TRUE(contains(cfl_error("# Dimensions\n\n4 4\n"), "found none"));
}

TEST(Cfl, RefusesWhatIsNoHeader) {
  for (const auto& header :
       {std::string(), std::string("1 1\n"), std::string(100, '\0'), std::string("#Dimensions\n1")})
    EXPECT_TRUE(contains(cfl_error(header), "scan.1.hdr: expected a BART header"));
  EXPECT_TRUE(contains(cfl_error(std::string((1 << 20) + 1, '#')), "at most 1048576 bytes"));
}

TEST(Cfl, RefusesDataOfAnotherSize) {
  EXPECT_TRUE(contains(cfl_error("# Dimensions\n2 3\n", std::string(47, 'x')),
                       "scan.1.cfl: expected 48 bytes for the dimensions 2 3 1 1 1 1 1 1 1 1 1 1 1 1 1 1 of its "
                       "header, found 47 (the file is truncated)"));
  EXPECT_TRUE(contains(cfl_error("# Dimensions\n2 3\n", std::string(56, 'x')), "expected 48 bytes"));
  EXPECT_TRUE(contains(cfl_error("# Dimensions\n1000000000000\n"), "expected 8000000000000 bytes"));
}

TEST(Cfl, NamesTheMissingOneOfThePair) {
  const auto stem = pair("# Dimensions\n1\n", floats({1, 2}));
  fs::remove(stem.string() + ".hdr");
  EXPECT_TRUE(contains(message_of([&] { read_cfl(stem.string() + ".cfl"); }), "scan.1.hdr: no such file; BART keeps"));
  EXPECT_TRUE(contains(message_of([] { read_cfl("/nonexistent/x.cfl"); }), "/nonexistent/x.hdr: cannot be read"));
}

}  // namespace
}  // namespace penumbra::io
