// Arrays survive the trip through NPY, and no file is trusted further than its bytes reach.
#include "io/npy.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "io/file.h"
#include "support/message.h"
#include "support/paths.h"

namespace penumbra::io {
namespace {

using test::contains;
using test::message_of;

/// A file of format 1.0 with this header and data.
std::string npy_file(const std::string& header, const std::string& data, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {version, 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  if (version > 1) bytes += {0, 0};
  return bytes + header + data;
}

std::string header_of(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

Tensor parsed_npy(const std::string& bytes) { return parse_npy(bytes, "x.npy"); }

std::string npy_error(const std::string& bytes) {
  return message_of([&] { parsed_npy(bytes); });
}

std::string bytes_of(std::initializer_list<int> values) {
  std::string bytes;
  for (const auto value : values) bytes += static_cast<char>(value);
  return bytes;
}

TEST(Npy, KeepsEveryTypeThroughAFile) {
  const auto path = test::scratch() / "x.npy";
  for (const auto type : {at::kBool, at::kChar, at::kByte, at::kShort, at::kInt, at::kLong, at::kHalf, at::kFloat,
                          at::kDouble, at::kComplexFloat, at::kComplexDouble}) {
    const auto array = (at::arange(24, at::kDouble).reshape({2, 3, 4}) - 3).abs().to(type);
    write_npy(path, array);
    const auto back = read_npy(path);
    EXPECT_EQ(back.scalar_type(), type);
    EXPECT_TRUE(at::equal(back, array)) << at::toString(type);
  }
}

TEST(Npy, KeepsScalarsAndEmptyArrays) {
  EXPECT_EQ(parsed_npy(format_npy(at::scalar_tensor(2.5, at::kDouble))).item<double>(), 2.5);
  EXPECT_EQ(parsed_npy(format_npy(at::empty({0, 3}, at::kFloat))).sizes(), at::IntArrayRef({0, 3}));
}

TEST(Npy, WritesViewsAsTheyLook) {
  const auto array = at::arange(6, at::kFloat).reshape({2, 3}).t();
  EXPECT_TRUE(at::equal(parsed_npy(format_npy(array)), array));
  const auto conjugate = at::complex(at::ones({2}), at::ones({2})).conj();
  EXPECT_EQ(at::imag(parsed_npy(format_npy(conjugate)))[0].item<float>(), -1);
}

TEST(Npy, StartsDataAtAMultipleOf64Bytes) {
  for (int64_t n : {1, 10, 100, 1000, 1000000}) EXPECT_EQ(format_npy(at::zeros({n}, at::kByte)).size() % 64, n % 64);
}

TEST(Npy, ReadsVersions2And3) {
  for (char version : {2, 3})
    EXPECT_EQ(parsed_npy(npy_file(header_of("|u1", "(2,)"), bytes_of({7, 8}), version))[1].item<int>(), 8);
}

TEST(Npy, ReadsBigEndian) {
  EXPECT_EQ(parsed_npy(npy_file(header_of(">i2", "(1,)"), bytes_of({1, 2})))[0].item<int>(), 258);
  EXPECT_EQ(parsed_npy(npy_file(header_of(">f4", "()"), bytes_of({0x3f, 0x80, 0, 0}))).item<float>(), 1);
  const auto complex = parsed_npy(npy_file(header_of(">c8", "()"), bytes_of({0x3f, 0x80, 0, 0, 0x40, 0, 0, 0})));
  EXPECT_EQ(at::real(complex).item<float>(), 1);
  EXPECT_EQ(at::imag(complex).item<float>(), 2);
}

TEST(Npy, ReadsFortranOrder) {
  const auto array = parsed_npy(npy_file(header_of("|i1", "(2, 3)", "True"), bytes_of({0, 1, 2, 3, 4, 5})));
  EXPECT_TRUE(at::equal(array, at::tensor({0, 2, 4, 1, 3, 5}).reshape({2, 3}).to(at::kChar)));
  EXPECT_TRUE(array.is_contiguous());
}

TEST(Npy, WidensUnsignedIntegersThatFit) {
  EXPECT_EQ(parsed_npy(npy_file(header_of("<u2", "()"), bytes_of({255, 255}))).item<int64_t>(), 65535);
  EXPECT_EQ(parsed_npy(npy_file(header_of("<u4", "()"), bytes_of({255, 255, 255, 255}))).item<int64_t>(), 4294967295);
  EXPECT_EQ(parsed_npy(npy_file(header_of("<u8", "()"), bytes_of({1, 0, 0, 0, 0, 0, 0, 0}))).item<int64_t>(), 1);
  EXPECT_TRUE(contains(npy_error(npy_file(header_of("<u8", "()"), std::string(8, '\xff'))), "below 2^63"));
}

TEST(Npy, ReadsAnyNonZeroByteAsTrue) {
  EXPECT_TRUE(at::equal(parsed_npy(npy_file(header_of("|b1", "(3,)"), bytes_of({0, 1, 200}))),
                        at::tensor({0, 1, 1}).to(at::kBool)));
}

TEST(Npy, ReadsHeadersAsOtherProgramsWriteThem) {
  const auto data = bytes_of({1, 2});
  for (const auto* header : {"{\"shape\":(2,),\"descr\":\"|u1\",\"fortran_order\":False}",
                             "{'descr': '=u1', 'fortran_order': False, 'shape': (2L,)}   \n"})
    EXPECT_EQ(parsed_npy(npy_file(header, data)).numel(), 2) << header;
}

TEST(Npy, RefusesATruncatedFile) {
  const auto whole = format_npy(at::ones({4}, at::kDouble));
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_TRUE(contains(npy_error(whole.substr(0, size)), "x.npy: ")) << size;
  EXPECT_EQ(npy_error(whole.substr(0, whole.size() - 1)),
            "x.npy: data: expected 32 bytes for shape (4), found 31 (the file is truncated)");
}

TEST(Npy, RefusesTrailingBytes) {
  EXPECT_EQ(npy_error(format_npy(at::ones({4}, at::kDouble)) + "x"),
            "x.npy: data: expected 32 bytes for shape (4), found 33");
}

TEST(Npy, RefusesObjectsStringsAndStructures) {
  for (const auto* descr :
       {"|O", "|O8", "<U4", "|S8", "<M8", "|V4", "<f16", "<f3", "<c4", "", "f8", "<f", "|f8", "!f8"})
    EXPECT_TRUE(contains(npy_error(npy_file(header_of(descr, "(1,)"), std::string(8, 0))), "x.npy: descr: expected"))
        << descr;
  const auto structured = "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}";
  EXPECT_TRUE(contains(npy_error(npy_file(structured, std::string(8, 0))), "x.npy: descr: expected"));
}

TEST(Npy, RefusesImpossibleShapes) {
  for (const auto* shape : {"(-1,)", "(9223372036854775807, 2)", "(99999999999999999999,)",
                            "(0, 4611686018427387904, 4)", "3", "(1.5,)", "(1,,)", "(1", "(1 2)", "('a',)"})
    EXPECT_TRUE(contains(npy_error(npy_file(header_of("<f8", shape), "")), "x.npy: shape: ")) << shape;
}

TEST(Npy, RefusesABrokenHeader) {
  const std::string good = "'descr': '<f8', 'fortran_order': False, 'shape': (0,)";
  for (const auto& header : {std::string{}, std::string("[]"), "{" + good, "{" + good + "} extra",
                             "{" + good + ", 'a': 1}", "{" + good + ", 'shape': (0,)}", std::string("{'descr': '<f8'}"),
                             std::string("{'descr': '<f8', 'fortran_order': 0, 'shape': ()}")})
    EXPECT_TRUE(contains(npy_error(npy_file(header, "")), "x.npy: ")) << header;
}

TEST(Npy, RefusesAnEndlessHeader) {
  std::string bytes = "\x93NUMPY";
  bytes += bytes_of({2, 0, 255, 255, 255, 127});
  EXPECT_TRUE(contains(npy_error(bytes), "x.npy: header length: expected at most 1048576 bytes, found 2147483647"));
}

TEST(Npy, RefusesAnotherVersionOrFormat) {
  EXPECT_EQ(npy_error(npy_file(header_of("<f8", "(0,)"), "", 4)), "x.npy: version: expected 1, 2 or 3, found 4");
  EXPECT_TRUE(contains(npy_error("PK\x03\x04"), "expected an NPY file"));
}

TEST(Npy, NamesAMissingFile) {
  EXPECT_TRUE(contains(message_of([] { read_npy("/nonexistent/x.npy"); }), "/nonexistent/x.npy: cannot be read"));
}

TEST(Npy, RefusesToWriteATypeThatNpyLacks) {
  EXPECT_THROW(format_npy(at::ones({2}, at::kBFloat16)), std::invalid_argument);
}

}  // namespace
}  // namespace penumbra::io
