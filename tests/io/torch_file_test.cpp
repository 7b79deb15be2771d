// Files of torch.save give their tensors whatever else is in them, and nothing in them is executed. The files are those
// of tests/fuzz/corpus, whose README says how they were made.
#include "io/torch_file.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <chrono>

#include "io/file.h"
#include "io/weights.h"
#include "support/message.h"
#include "support/paths.h"
#include "support/zip_archive.h"

namespace penumbra::io {
namespace {

using test::contains;
using test::message_of;
using namespace std::string_literals;

Weights read(const std::string& name) { return read_weights(test::corpus("torch_file/" + name)); }

/// The archive of torch.save around this pickle, with a storage 0 of the floats 0 to 11.
std::string archive(const std::string& pickle, const std::string& order = "little") {
  const auto floats = at::arange(12, at::kFloat);
  return test::zip_archive({{"a/data.pkl", pickle},
                            {"a/byteorder", order},
                            {"a/data/0", {static_cast<const char*>(floats.data_ptr()), floats.nbytes()}}});
}

std::string pth_error(const std::string& bytes) {
  return message_of([&] { parse_weights(bytes, "x.pth"); });
}

// Pieces of pickles, protocol 2.
std::string text(const std::string& value) {
  std::string bytes = "X";
  test::append_number(bytes, value.size(), 4);
  return bytes + value;
}

std::string integer(int64_t value) {
  std::string bytes = "\x8a\x08";
  test::append_number(bytes, static_cast<uint64_t>(value), 8);
  return bytes;
}

std::string numbers(const std::vector<int64_t>& values) {
  std::string bytes = "(";
  for (const auto value : values) bytes += integer(value);
  return bytes + "t";
}

std::string tensor_of(const std::string& storage, const std::vector<int64_t>& shape,
                      const std::vector<int64_t>& strides, int64_t offset = 0) {
  return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage + "Q" + integer(offset) + numbers(shape) + numbers(strides) +
         "\x89}tR";
}

std::string storage(const std::string& type, const std::string& key, int64_t count) {
  return "("s + text("storage") + "ctorch\n" + type + "\n" + text(key) + text("cpu") + integer(count) + "t";
}

std::string dictionary(const std::string& pairs) { return "\x80\x02}(" + pairs + "u."; }

const std::string twelve = storage("FloatStorage", "0", 12);

void expect_odd_tensors(const Weights& weights) {
  const auto base = at::arange(24, at::kFloat);
  const std::map<std::string, Tensor> expected{{"view", base.slice(0, 4, 10).reshape({2, 3})},
                                               {"transposed", base.slice(0, 0, 6).reshape({2, 3}).t()},
                                               {"every_third", base.slice(0, 1, 24, 3)},
                                               {"repeated", at::full({2, 3}, 7.0, at::kFloat)},
                                               {"parameter", at::tensor({1.5F, -2.5F})},
                                               {"scalar", at::scalar_tensor(2.5, at::kDouble)},
                                               {"empty", at::empty({0, 3}, at::kFloat)},
                                               {"half", at::tensor({1.0F, 0.5F}).to(at::kHalf)},
                                               {"bfloat16", at::tensor({1.0F, -3.0F}).to(at::kBFloat16)},
                                               {"truth", at::tensor({1, 0, 1}).to(at::kBool)},
                                               {"long", at::tensor({int64_t{-1}, int64_t{1} << 40})},
                                               {"int", at::tensor({-2}).to(at::kInt)},
                                               {"short", at::tensor({-3}).to(at::kShort)},
                                               {"char", at::tensor({-4}).to(at::kChar)},
                                               {"byte", at::tensor({250}).to(at::kByte)}};
  EXPECT_EQ(weights.chosen, "");
  EXPECT_TRUE(weights.header.is_null());
  EXPECT_TRUE(weights.passed_over.empty());
  ASSERT_EQ(weights.tensors.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    ASSERT_TRUE(weights.tensors.contains(name)) << name;
    const auto& found = weights.tensors.at(name);
    EXPECT_EQ(found.scalar_type(), tensor.scalar_type()) << name;
    EXPECT_EQ(found.sizes(), tensor.sizes()) << name;
    EXPECT_TRUE(found.is_contiguous()) << name;
    EXPECT_TRUE(at::equal(found, tensor)) << name;
  }
}

TEST(TorchFile, ReadsViewsParametersAndEveryType) { expect_odd_tensors(read("odd.pth")); }
TEST(TorchFile, ReadsTheLegacyFormat) { expect_odd_tensors(read("odd_legacy.pth")); }
TEST(TorchFile, ReadsProtocol4) { expect_odd_tensors(read("odd_protocol4.pth")); }
TEST(TorchFile, ReadsTheLegacyFormatInProtocol5) { expect_odd_tensors(read("odd_legacy_protocol5.pth")); }

TEST(TorchFile, GivesEveryTensorItsOwnStorage) {
  auto weights = read("odd.pth");
  const auto third = weights.tensors.at("every_third").clone();
  weights.tensors.at("view").zero_();
  EXPECT_TRUE(at::equal(weights.tensors.at("every_third"), third));
}

TEST(TorchFile, TakesTheAverageFromATrainingCheckpoint) {
  const auto weights = read("training.ckpt");
  EXPECT_EQ(weights.chosen, "state_dict_ema, prefix 'module.model.'");
  ASSERT_EQ(weights.tensors.size(), 4);
  EXPECT_TRUE(at::equal(weights.tensors.at("0.weight"), at::full({2, 1}, 5.0, at::kFloat)));
  const std::vector<std::string> passed_over{"argparse.Namespace", "numpy.core.multiarray.scalar", "numpy.dtype"};
  for (const auto& name : passed_over)
    EXPECT_EQ(std::count(weights.passed_over.begin(), weights.passed_over.end(), name), 1) << name;
}

TEST(TorchFile, SaysWhereAnAverageHasNoNames) {
  const auto weights = read("unnamed_average.pth");
  EXPECT_EQ(weights.chosen, "model, ema holds no named tensors, prefix 'a.'");
  EXPECT_TRUE(weights.tensors.contains("weight"));
}

TEST(TorchFile, PrefersInTheStatedOrder) {
  const auto one = [](const std::string& key) {
    return text(key) + "}" + text("w") + tensor_of(twelve, {1}, {1}) + "s";
  };
  const auto chosen = [&](const std::vector<std::string>& keys) {
    std::string pairs;
    for (const auto& key : keys) pairs += one(key);
    return parse_weights(archive(dictionary(pairs)), "x.pth").chosen;
  };
  EXPECT_EQ(chosen({"net", "model", "state_dict", "ema"}), "ema");
  EXPECT_EQ(chosen({"params", "params_ema"}), "params_ema");
  EXPECT_EQ(chosen({"net", "model", "state_dict", "optimizer"}), "state_dict");
  EXPECT_EQ(chosen({"net", "params"}), "params");
  const auto nested = text("ema") + "}" + one("state_dict") + "s" + one("model");
  EXPECT_EQ(parse_weights(archive(dictionary(nested)), "x.pth").chosen, "ema.state_dict");
}

TEST(TorchFile, RemovesOnlyWhatEveryNameShares) {
  const auto names = [](const std::vector<std::string>& given) {
    std::string pairs;
    for (const auto& name : given) pairs += text(name) + tensor_of(twelve, {1}, {1});
    std::vector<std::string> names;
    for (const auto& [name, tensor] : parse_weights(archive(dictionary(pairs)), "x.pth").tensors) names.push_back(name);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({"_orig_mod.module.a.w", "_orig_mod.module.b"}), (Names{"a.w", "b"}));
  EXPECT_EQ(names({"model.a", "model.b", "step"}), (Names{"model.a", "model.b", "step"}));
  EXPECT_EQ(names({"model.a", "models.a"}), (Names{"model.a", "models.a"}));
  EXPECT_EQ(names({"model.", "model.a"}), (Names{"model.", "model.a"}));
}

TEST(TorchFile, ExecutesNothing) {
  const auto weights = read("hostile_beside.pth");
  EXPECT_EQ(weights.tensors.size(), 2);
  EXPECT_EQ(weights.passed_over, std::vector<std::string>{"posix.system"});
  const auto error = message_of([] { read("hostile.pth"); });
  EXPECT_TRUE(contains(error, "hostile.pth: expected a dictionary of tensors, found an object of posix.system"));
  EXPECT_TRUE(contains(error, "not executed"));
  EXPECT_FALSE(std::filesystem::exists("/tmp/penumbra-was-here"));
}

TEST(TorchFile, RefusesACallInPlaceOfATensorsPart) {
  const auto call = "cos\nsystem\n(" + text("true") + "tR";
  const auto broken = "ctorch._utils\n_rebuild_tensor_v2\n(" + call + integer(0) + numbers({1}) + numbers({1}) + "tR";
  EXPECT_EQ(pth_error(archive(dictionary(text("w") + broken))),
            "x.pth: w: expected a storage, found an object of os.system");
}

TEST(TorchFile, RefusesOtherKindsOfTensorsByName) {
  EXPECT_TRUE(contains(message_of([] { read("sparse.pth"); }),
                       "bias: expected a dense tensor, found what torch._utils._rebuild_sparse_tensor makes"));
  EXPECT_TRUE(contains(message_of([] { read("complex.pth"); }), "weight: type: expected one of F64, "));
  EXPECT_TRUE(contains(message_of([] { read("complex.pth"); }), "found ComplexFloatStorage"));
  EXPECT_TRUE(contains(message_of([] { read("whole_model.pth"); }), "torch.nn.modules.linear.Linear"));
  EXPECT_TRUE(contains(message_of([] { read("whole_model.pth"); }), "state_dict()"));
}

TEST(TorchFile, RefusesATruncatedFile) {
  for (const auto* name : {"odd.pth", "odd_legacy.pth", "odd_legacy_protocol5.pth", "hostile_beside.pth"}) {
    const auto whole = read_file(test::corpus("torch_file/"s + name));
    for (size_t size = 0; size < whole.size(); ++size)
      EXPECT_TRUE(contains(pth_error(whole.substr(0, size)), "x.pth: ")) << name << " " << size;
  }
}

TEST(TorchFile, RefusesTensorsBeyondTheirStorage) {
  const auto error = [](const std::string& tensor) { return pth_error(archive(dictionary(text("w") + tensor))); };
  ASSERT_EQ(error(tensor_of(twelve, {3, 4}, {4, 1})), "");
  ASSERT_EQ(error(tensor_of(twelve, {0, 99}, {99, 1}, 500)), "");
  EXPECT_EQ(error(tensor_of(twelve, {13}, {1})),
            "x.pth: w: expected to lie within its storage's 12 elements, found 13 from 0");
  EXPECT_TRUE(contains(error(tensor_of(twelve, {12}, {1}, 1)), "found 12 from 1"));
  EXPECT_TRUE(contains(error(tensor_of(twelve, {2}, {12})), "found 13 from 0"));
  EXPECT_TRUE(contains(error(tensor_of(twelve, {1}, {1}, INT64_MAX)), "found 1 from"));
  EXPECT_TRUE(contains(error(tensor_of(twelve, {3}, {INT64_MAX})), "strides: too large"));
  EXPECT_TRUE(contains(error(tensor_of(twelve, {2}, {INT64_MAX})), "strides: too large"));
  EXPECT_TRUE(contains(error(tensor_of(twelve, {INT64_MAX, 2}, {0, 0})), "shape: "));
  EXPECT_TRUE(contains(error(tensor_of(twelve, {-1}, {1})), "shape: expected an integer from 0"));
  EXPECT_TRUE(contains(error(tensor_of(twelve, {2}, {-1}, 1)), "strides: expected an integer from 0"));
  EXPECT_TRUE(contains(error(tensor_of(twelve, {2, 2}, {1})), "strides: expected 2"));
  EXPECT_TRUE(contains(error(tensor_of(storage("FloatStorage", "0", 13), {1}, {1})),
                       "data/0: expected 13 elements of 4 bytes, found 48 bytes"));
  EXPECT_TRUE(contains(error(tensor_of(storage("FloatStorage", "0", INT64_MAX), {1}, {1})), "data/0: expected"));
  EXPECT_TRUE(
      contains(error(tensor_of(storage("FloatStorage", "7", 1), {1}, {1})), "a/data/7: the archive has no such entry"));
  EXPECT_TRUE(contains(error(tensor_of(storage("FlotStorage", "0", 12), {1}, {1})), "found torch.FlotStorage"));
}

TEST(TorchFile, ReadsStoragesThatAreViewsOfOthers) {
  // Old files give a view's key, first element and size after the size of the whole.
  const auto view = [](int64_t first, int64_t count) {
    auto whole = twelve;
    whole.pop_back();
    return whole + "(" + text("view") + integer(first) + integer(count) + "tt";
  };
  const auto file = [&](const std::string& storage, const std::vector<int64_t>& shape) {
    return archive(dictionary(text("w") + tensor_of(storage, shape, {1}, 1)));
  };
  EXPECT_TRUE(at::equal(parse_weights(file(view(2, 4), {3}), "x.pth").tensors.at("w"), at::tensor({3.0F, 4.0F, 5.0F})));
  EXPECT_TRUE(contains(pth_error(file(view(2, 4), {4})), "within its storage's 4 elements, found 4 from 1"));
  EXPECT_TRUE(contains(pth_error(file(view(9, 4), {1})), "a view within the storage's 12 elements, found 4 from 9"));
  EXPECT_TRUE(contains(pth_error(file(view(INT64_MAX, INT64_MAX), {1})), "a view within"));
}

TEST(TorchFile, RefusesTensorsThatRepeatThemselvesWithoutEnd) {
  const auto huge = tensor_of(twelve, {int64_t{1} << 40}, {0});
  EXPECT_TRUE(contains(pth_error(archive(dictionary(text("w") + huge))), "w: expected tensors of at most"));
}

TEST(TorchFile, RefusesBigEndian) {
  const auto pickle = dictionary(text("w") + tensor_of(twelve, {1}, {1}));
  EXPECT_EQ(pth_error(archive(pickle)), "");
  EXPECT_EQ(pth_error(archive(pickle, "big")), "x.pth: byteorder: expected little, found big");
  auto legacy = read_file(test::corpus("torch_file/odd_legacy.pth"));
  const auto at = legacy.find("little_endian");
  ASSERT_NE(at, legacy.npos);
  const auto truth = legacy.find('\x88', at);
  legacy[truth] = '\x89';
  EXPECT_EQ(pth_error(legacy), "x.pth: little_endian: expected True, found False");
}

TEST(TorchFile, RefusesOtherArchives) {
  EXPECT_TRUE(contains(pth_error(test::zip_archive({{"x.npy", "1"}})), "a ZIP archive without data.pkl"));
  EXPECT_TRUE(contains(pth_error(test::zip_archive({{"a/data.pkl", "."}, {"b/data.pkl", "."}})), "found several"));
  EXPECT_TRUE(contains(pth_error(test::zip_archive({{"a/data.pkl", "."}, {"a/constants.pkl", "."}})), "TorchScript"));
  EXPECT_TRUE(contains(pth_error(test::zip_archive({{"a/data.pkl", "."}}, 8)), "a/data.pkl: expected a stored entry"));
  EXPECT_TRUE(contains(pth_error(test::zip_archive({{"a/data.pkl", "."}, {"a/data.pkl", "."}})), "comes twice"));
  EXPECT_TRUE(contains(pth_error("neither"), "x.pth: expected weights as safetensors or as torch.save writes them"));
}

TEST(TorchFile, RefusesNamesThatAreNoText) {
  const auto error = [](const std::string& name) {
    return pth_error(archive(dictionary(text(name) + tensor_of(twelve, {1}, {1}))));
  };
  for (const auto* name : {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) EXPECT_EQ(error(name), "") << name;
  for (const auto* name : {"\xff", "\xc3", "\xc3(", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    EXPECT_EQ(error(name), "x.pth: expected names in UTF-8");
}

TEST(TorchFile, RefusesBrokenPickles) {
  const std::string proto = "\x80\x02";
  for (const auto& pickle : {""s,
                             "."s,
                             proto,
                             proto + "(.",
                             proto + "0.",
                             proto + "h\x05.",
                             proto + "q\x05.",
                             proto + "u.",
                             proto + "(a.",
                             proto + "}(" + text("k") + "u.",
                             proto + "Na.",
                             proto + "N(NNu.",
                             proto + "NNR.",
                             proto + "cos\n",
                             proto + "NN\x93.",
                             proto + "\x8b\xff\xff\xff\x7f",
                             proto + "X\xff\xff\xff\xff",
                             proto + "\x8d\xff\xff\xff\xff\xff\xff\xff\xff",
                             proto + "Nr\xff\xff\xff\xff.",
                             proto + "i",
                             "\x80\x01N."s,
                             proto + "\x82\x01."})
    EXPECT_TRUE(contains(pth_error(archive(pickle)), "x.pth: ")) << ::testing::PrintToString(pickle);
}

TEST(TorchFile, SurvivesDepthsAndCircles) {
  constexpr size_t depth = 1'000'000;
  std::string lists(depth, ']'), tuples = ")", parameters = tensor_of(twelve, {1}, {1});
  for (size_t i = 0; i < depth; ++i) lists += i + 1 < depth ? "a" : "", tuples += '\x85';
  const auto weight = text("w") + tensor_of(twelve, {1}, {1});
  for (const auto& deep : {lists, tuples})
    EXPECT_EQ(parse_weights(archive(dictionary(text("deep") + deep + weight)), "x.pth").tensors.size(), 1);
  // A dictionary that holds itself under every key that is looked at.
  std::string circle = "\x80\x02}q" + std::string(1, '\0') + "(";
  for (const auto* key : {"ema", "state_dict", "model", "net"}) circle += text(key) + "h" + std::string(1, '\0');
  EXPECT_EQ(parse_weights(archive(circle + weight + "u."), "x.pth").chosen, "ema.ema");
  EXPECT_TRUE(contains(pth_error(archive(circle + "u.")), "expected a dictionary of tensors"));
  for (int i = 0; i < 1000; ++i) parameters = "ctorch._utils\n_rebuild_parameter\n(" + parameters + "\x89}tR";
  EXPECT_TRUE(contains(pth_error(archive(dictionary(text("w") + parameters))), "parameters within parameters"));
}

TEST(TorchFile, TakesTimeInProportionToTheFile) {
  // Each line would take minutes, or all memory, if what it names were copied or searched for at every use.
  const auto weight = text("w") + tensor_of(twelve, {1}, {1});
  const std::string zero(1, '\0');
  const std::string long_text = text(std::string(1'000'000, 'n'));
  const auto memo = "\x80\x02"s + long_text + "q" + zero + "0" + tensor_of(twelve, {1}, {1}) + "q\x01" + "0";
  std::string globals, names, keys;
  for (int i = 0; i < 300'000; ++i) {
    globals += "h"s + zero + "h" + zero + "\x93" + "0";
    names += "h"s + zero + "h\x01";
    keys += text("k") + "h\x01";
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(contains(pth_error(archive(memo + globals + dictionary(weight))), "in at most 512 bytes"));
  EXPECT_TRUE(contains(pth_error(archive(memo + dictionary(names))), "names of at most 1024 bytes"));
  EXPECT_EQ(pth_error(archive(memo + dictionary(keys))), "");
  EXPECT_TRUE(contains(pth_error(archive("\x80\x02"s + std::string(5'000'000, ')') + ".")), "at most 4194304 values"));
  EXPECT_TRUE(contains(pth_error(archive("\x80\x02"s + std::string(5'000'000, '(') + ".")), "at most 4194304 marks"));
  EXPECT_TRUE(contains(pth_error(archive("\x80\x02N"s + std::string(5'000'000, '2') + ".")), "values on the stack"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(TorchFile, ReadsStringsAndOrderedDictionariesOfPython2) {
  const auto short_string = [](const std::string& value) {
    return "U"s + std::string(1, static_cast<char>(value.size())) + value;
  };
  const auto pickle =
      "\x80\x02"s + "ccollections\nOrderedDict\n](](" + short_string("w") + tensor_of(twelve, {2}, {1}) + "ee\x85R.";
  EXPECT_EQ(parse_weights(archive(pickle), "x.pth").tensors.at("w").numel(), 2);
}

/// The names and shapes that the official code reports for its network.
void expect_golden(const std::string& file, const std::string& description, const std::string& chosen) {
  const auto path = test::shared("golden/" + file), listed = test::shared("golden/" + description);
  if (!path || !listed) GTEST_SKIP() << "golden/" << file << " is not beside this checkout";
  const auto weights = read_weights(*path);
  const auto parameters = nlohmann::json::parse(read_file(*listed))["params"];
  EXPECT_EQ(weights.chosen, chosen);
  ASSERT_EQ(weights.tensors.size(), parameters.size());
  double largest = 0;
  for (const auto& [name, shape] : parameters.items()) {
    ASSERT_TRUE(weights.tensors.contains(name)) << name;
    const auto& tensor = weights.tensors.at(name);
    EXPECT_EQ(tensor.sizes().vec(), shape.get<std::vector<int64_t>>()) << name;
    EXPECT_TRUE(tensor.isfinite().all().item<bool>()) << name;
    largest = std::max(largest, tensor.abs().max().item<double>());
  }
  EXPECT_GT(largest, 0.01);
}

TEST(TorchFile, ReadsTheOfficialStateDictionary) { expect_golden("unet_a.pth", "unet_a.json", ""); }

TEST(TorchFile, ReadsTheAverageOfTheOfficialCheckpoint) {
  expect_golden("unet_b.ckpt", "unet_b.json", "state_dict_ema, prefix 'model.'");
}

TEST(TorchFile, ReadsAPublishedLegacyFile) {
  const auto path = test::shared("data/denoisers/kair_MIT/dncnn_25.pth");
  if (!path) GTEST_SKIP() << "dncnn_25.pth is not beside this checkout";
  const auto weights = read_weights(*path);
  EXPECT_EQ(weights.chosen, "prefix 'model.'");
  EXPECT_EQ(weights.tensors.size(), 34);
  EXPECT_EQ(weights.tensors.at("0.weight").sizes().vec(), (std::vector<int64_t>{64, 1, 3, 3}));
}

}  // namespace
}  // namespace penumbra::io
