// Weights survive the trip through safetensors, and no header is believed before its numbers fit the file.
#include "io/safetensors.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "io/file.h"
#include "io/weights.h"
#include "support/message.h"
#include "support/paths.h"
#include "support/zip_archive.h"

namespace penumbra::io {
namespace {

using test::contains;
using test::message_of;

std::string file_with(const std::string& header, const std::string& data = "") {
  std::string bytes;
  test::append_number(bytes, header.size(), 8);
  return bytes + header + data;
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" + offsets + "]}";
}

std::string safetensors_error(const std::string& bytes) {
  return message_of([&] { parse_weights(bytes, "x.safetensors"); });
}

TEST(Safetensors, KeepsEveryTypeThroughAFile) {
  std::map<std::string, Tensor> tensors;
  for (const auto type : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kShort, at::kChar,
                          at::kByte, at::kBool})
    tensors[at::toString(type)] = (at::arange(24, at::kDouble).reshape({2, 3, 4}) - 3).abs().to(type);
  tensors["scalar"] = at::scalar_tensor(2.5, at::kDouble);
  tensors["empty"] = at::empty({0, 3}, at::kFloat);
  tensors["view"] = at::arange(6, at::kFloat).reshape({2, 3}).t();
  tensors["name \"with\" \n\xc3\xa9"] = at::ones({1}, at::kFloat).requires_grad_();
  const nlohmann::json header{{"kind", "unet"}, {"channels", {1, 2}}, {"sigma_max", 348.5}};

  const auto path = test::scratch() / "weights of any name";
  write_safetensors(path, tensors, header);
  const auto back = read_weights(path);
  EXPECT_EQ(back.header, header);
  EXPECT_EQ(back.chosen, "");
  ASSERT_EQ(back.tensors.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    ASSERT_TRUE(back.tensors.contains(name)) << name;
    EXPECT_EQ(back.tensors.at(name).scalar_type(), tensor.scalar_type()) << name;
    EXPECT_EQ(back.tensors.at(name).sizes(), tensor.sizes()) << name;
    EXPECT_TRUE(at::equal(back.tensors.at(name), tensor)) << name;
  }
}

TEST(Safetensors, AlignsEveryTensorToItsElements) {
  const std::string data(64, 'x');
  Safetensors content;
  for (const auto type : {ElementType::u8, ElementType::f64, ElementType::bf16, ElementType::f32})
    content.tensors[std::string(name_of(type))] = {type, {3}, {1}, std::string_view(data).substr(0, 3 * size_of(type))};
  const auto bytes = format_safetensors(content);
  const auto file = open_safetensors(bytes, "x");
  for (const auto& [name, tensor] : file.tensors)
    EXPECT_EQ((tensor.data.data() - bytes.data()) % size_of(tensor.type), 0) << name;
}

TEST(Safetensors, KeepsNamesOfItsOwnFilesAndShortensThoseOfOthers) {
  const auto path = test::scratch() / "x.safetensors";
  write_safetensors(path, {{"model.a", at::ones({1})}, {"model.b", at::ones({1})}}, {{"kind", "unet"}});
  EXPECT_TRUE(read_weights(path).tensors.contains("model.a"));
  const auto others = file_with(
      R"({"module.model.a":)" + entry("U8", "1", "0,1") + R"(,"module.model.b":)" + entry("U8", "1", "1,2") + "}",
      "12");
  const auto weights = parse_weights(others, "x");
  EXPECT_EQ(weights.chosen, "prefix 'module.model.'");
  EXPECT_TRUE(weights.header.is_null());
  EXPECT_EQ(weights.tensors.at("b").item<int>(), '2');
}

TEST(Safetensors, AFileBesideThemGivesThePixelsSpreadWhereTheHeaderHasNone) {
  const auto folder = test::scratch();
  const auto path = folder / "x.v2.safetensors", beside = folder / "x.v2.sd.json";
  write_safetensors(path, {{"a", at::ones({1})}}, {{"kind", "unet"}});
  EXPECT_FALSE(read_weights(path).header.contains("pixel_sd"));
  EXPECT_EQ(read_weights(path).pixel_sd_file, "");
  write_file(beside, R"({"from": "7 images"})");
  EXPECT_EQ(read_weights(path).header["pixel_sd"]["from"].get<std::string>(), "7 images");
  EXPECT_EQ(read_weights(path).pixel_sd_file, beside.string());
  for (const auto& text : {std::string("{\"from\": "), std::string(), std::string(100, '[')}) {
    write_file(beside, text);
    EXPECT_EQ(message_of([&] { read_weights(path); }).find(beside.string() + ": expected"), 0) << text;
  }
  // Its own comes first, and weights without a header have no use for one.
  write_safetensors(path, {{"a", at::ones({1})}}, {{"pixel_sd", 3}});
  EXPECT_EQ(read_weights(path).header["pixel_sd"].get<int>(), 3);
  EXPECT_EQ(read_weights(path).pixel_sd_file, "");
  write_file(path, file_with(R"({"a":)" + entry("U8", "1", "0,1") + "}", "1"));
  EXPECT_TRUE(read_weights(path).header.is_null());
}

TEST(Safetensors, ReadsAnyNonZeroByteAsTrue) {
  const auto weights =
      parse_weights(file_with(R"({"a":)" + entry("BOOL", "3", "0,3") + "}", std::string("\0\1\x80", 3)), "x");
  EXPECT_TRUE(at::equal(weights.tensors.at("a"), at::tensor({0, 1, 1}).to(at::kBool)));
}

TEST(Safetensors, RefusesATruncatedFile) {
  const auto path = test::scratch() / "x.safetensors";
  write_safetensors(path, {{"a", at::ones({4})}, {"b", at::ones({2}, at::kHalf)}}, {{"kind", "unet"}});
  const auto whole = read_file(path);
  ASSERT_NO_THROW(parse_weights(whole, "x.safetensors"));
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_TRUE(contains(safetensors_error(whole.substr(0, size)), "x.safetensors: ")) << size;
}

TEST(Safetensors, RefusesOffsetsThatDoNotFit) {
  const auto two = [](const std::string& a, const std::string& b) {
    return R"({"a":)" + entry("U8", "2", a) + R"(,"b":)" + entry("U8", "2", b) + "}";
  };
  ASSERT_EQ(safetensors_error(file_with(two("0,2", "2,4"), "1234")), "");
  EXPECT_TRUE(contains(safetensors_error(file_with(two("0,2", "1,3"), "123")),
                       "x.safetensors: b: data_offsets: expected to begin at 2"));
  EXPECT_TRUE(contains(safetensors_error(file_with(two("0,2", "1,3"), "123")), "overlap"));
  EXPECT_TRUE(contains(safetensors_error(file_with(two("0,2", "0,2"), "12")), "overlap"));
  EXPECT_TRUE(contains(safetensors_error(file_with(two("0,2", "3,5"), "12345")), "gap"));
  EXPECT_TRUE(contains(safetensors_error(file_with(two("1,3", "3,5"), "12345")), "gap"));
  EXPECT_TRUE(contains(safetensors_error(file_with(two("0,2", "2,4"), "12345")),
                       "expected 4 bytes, as the header says, found 5"));
  EXPECT_TRUE(contains(safetensors_error(file_with(two("0,2", "4,2"), "1234")), "b: data_offsets: expected a range"));
  EXPECT_TRUE(contains(safetensors_error(file_with(two("0,2", "2,5"), "12345")),
                       "b: data_offsets: expected 2 bytes for U8 (2), found 3"));
  EXPECT_TRUE(contains(safetensors_error(file_with(two("0,2", "2"), "1234")), "expected 2 numbers"));
  EXPECT_TRUE(contains(safetensors_error(file_with(two("0,2", "2,9223372036854775807"), "1234")), "b: data_offsets"));
}

TEST(Safetensors, RefusesImpossibleShapes) {
  for (const auto* shape : {"-1", "9223372036854775807,2", "18446744073709551615", "0,4611686018427387904,4", "1.5",
                            "1e3", "null", "\"1\"", "[1]", "true"})
    EXPECT_TRUE(contains(safetensors_error(file_with(R"({"a":)" + entry("F64", shape, "0,0") + "}")), "a: shape: "))
        << shape;
  std::string many = "1";
  for (int i = 0; i < 64; ++i) many += ",1";
  EXPECT_TRUE(contains(safetensors_error(file_with(R"({"a":)" + entry("U8", many, "0,1") + "}", "1")),
                       "at most 64 dimensions"));
}

TEST(Safetensors, NamesATypeThatItLacks) {
  EXPECT_TRUE(contains(safetensors_error(file_with(R"({"a":)" + entry("F8_E4M3", "1", "0,1") + "}", "1")),
                       "x.safetensors: a: dtype: expected one of F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL, "
                       "found F8_E4M3"));
}

TEST(Safetensors, RefusesNamesThatComeTwice) {
  const auto one = entry("U8", "0", "0,0");
  EXPECT_TRUE(
      contains(safetensors_error(file_with(R"({"a":)" + one + R"(,"a":)" + one + "}")), "header: a comes twice"));
  EXPECT_TRUE(contains(safetensors_error(file_with(R"({"__metadata__":{"k":"1","k":"2"}})")), "k comes twice"));
  EXPECT_TRUE(contains(safetensors_error(file_with(R"({"a":{"dtype":"U8","dtype":"U8"}})")), "dtype comes twice"));
}

TEST(Safetensors, RefusesAnEndlessName) {
  const auto with_name = [](size_t length) {
    return file_with("{\"" + std::string(length, '7') + "\":" + entry("U8", "1", "0,1") + "}", "x");
  };
  EXPECT_EQ(safetensors_error(with_name(1024)), "");
  EXPECT_TRUE(contains(safetensors_error(with_name(400'000)), "names of at most 1024 bytes, found one of 400000"));
}

TEST(Safetensors, RefusesABrokenHeader) {
  for (const auto* header :
       {"{", "{}x", "{} {}", "{\"a\":1}", "{\"a\":[]}", "{\"a\":{}}", "{\"a\":{\"dtype\":\"U8\"}}",
        "{\"a\":{\"dtype\":1}}", "{\"a\":{\"dtype\":[]}}", "{\"a\":{\"shape\":{}}}", "{\"a\":{\"size\":1}}",
        "{\"__metadata__\":{\"k\":1}}", "{\"__metadata__\":{\"k\":{}}}", "{\"__metadata__\":\"k\"}", "{\"\xff\":{}}"})
    EXPECT_TRUE(contains(safetensors_error(file_with(header)), "x.safetensors: ")) << header;
  // To nlohmann::json a NUL is the end.
  EXPECT_TRUE(contains(safetensors_error(file_with(std::string("{}\0{}", 5))), "NUL"));
}

TEST(Safetensors, RefusesAnEndlessHeader) {
  std::string bytes;
  test::append_number(bytes, 100'000'001, 8);
  EXPECT_TRUE(
      contains(safetensors_error(bytes + "{}"), "header length: expected at most 100000000 bytes, found 100000001"));
  bytes.assign(8, '\xff');
  EXPECT_TRUE(contains(safetensors_error(bytes + "{}"), "found 18446744073709551615"));
}

TEST(Safetensors, RefusesAHeaderOfOursThatIsNoJson) {
  EXPECT_TRUE(contains(safetensors_error(file_with(R"({"__metadata__":{"penumbra":"{"}})")),
                       "__metadata__: penumbra: expected JSON"));
  const auto deep = std::string(100000, '[');
  EXPECT_TRUE(
      contains(safetensors_error(file_with(R"({"__metadata__":{"penumbra":")" + deep + "\"}}")), "at most 64 levels"));
}

TEST(Safetensors, RefusesToWriteWhatItCannot) {
  const auto path = test::scratch() / "x.safetensors";
  EXPECT_THROW(write_safetensors(path, {{"a", at::ones({2}, at::kComplexFloat)}}, {}), std::invalid_argument);
  EXPECT_THROW(write_safetensors(path, {{"__metadata__", at::ones({2})}}, {}), std::invalid_argument);
  EXPECT_THROW(write_safetensors(path, {{"\xff", at::ones({2})}}, {}), std::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace penumbra::io
