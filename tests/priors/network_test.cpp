/// Learned priors: from a file to a score, and which files are refused.
#include "priors/network.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "io/image.h"
#include "io/weights.h"
#include "priors/contract.h"
#include "support/numbers.h"
#include "support/program.h"
#include "support/random_weights.h"

namespace penumbra {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::contains;
using test::float32;
using test::message_of;
using Weights = std::map<std::string, Tensor>;

Tensor noise(const Shape& shape, int64_t k = 0) { return test::numbers(8, shape, k, at::kFloat); }

json tiny() {
  return {{"kind", "unet"},          {"model_channels", 32},         {"channel_mult", {1, 1}}, {"num_res_blocks", 1},
          {"num_head_channels", 32}, {"use_scale_shift_norm", true}, {"resblock_updown", true}};
}

NetworkHeader header_of(const json& architecture, const json& change = json::object()) {
  json header{{"format", 1},
              {"name", "tiny"},
              {"architecture", architecture},
              {"parameterisation", {{"kind", "karras"}, {"sigma_data", 0.4}}},
              {"sigma_range", {0.005, 400}},
              {"pixel_range", {-1, 1}},
              {"image_shape", {1, 8, 12}}};
  header.update(change);
  return NetworkHeader::from_json(header, "test");
}

Weights weights_of(const NetworkHeader& header) {
  return test::random_weights(Architecture(header.architecture, "test"), 3);
}

/// A prior's file in a new folder; `change` replaces fields of its header, checked or not.
fs::path prior_file(const Weights& weights, const json& header) {
  const auto path = test::scratch() / "tiny.safetensors";
  io::write_safetensors(path, weights, header);
  return path;
}
fs::path prior_file(const json& change = json::object(), const json& architecture = tiny()) {
  const auto header = header_of(architecture);
  auto stated = header.to_json();
  stated.update(change);
  return prior_file(weights_of(header), stated);
}

std::shared_ptr<const Score> load(const fs::path& file, const std::string& more = "compute: float32",
                                  at::ScalarType precision = at::kFloat) {
  auto settings =
      Settings::from_text(fmt::format("{{kind: network, file: {}, {}}}", file.string(), more), "prior.yaml");
  auto prior = make_prior(settings, {precision, at::kCPU});
  settings.finish();
  return prior;
}

std::string refusal(const fs::path& file, const std::string& more = "compute: float32") {
  const auto message = message_of([&] { load(file, more); });
  EXPECT_FALSE(contains(message, "\n")) << message;
  EXPECT_LT(message.size(), 500U);
  return message;
}

TEST(NetworkPrior, KeepsThePriorContract) {
  const auto prior = load(prior_file());
  test::expect_prior_contract(*prior, 1e-5);
  EXPECT_EQ(prior->image_shape(), (Shape{1, 8, 12}));
  EXPECT_EQ(prior->pixel_range(), (std::pair{-1.0, 1.0}));
}

TEST(NetworkPrior, TheDerivativeInBfloat16IsThatOfFloat32) {
  c10::NoGradGuard no_gradients;
  const auto file = prior_file();
  const auto x = noise({2, 1, 8, 12}), v = noise({2, 1, 8, 12}, 1);
  const auto exact = load(file)->denoise_vjp(x, 0.5).vjp(v);
  const auto rounded = load(file, "compute: bfloat16")->denoise_vjp(x, 0.5).vjp(v);
  ASSERT_EQ(rounded.scalar_type(), at::kFloat);
  // Eight bits of each number in some twenty layers.
  EXPECT_LT(test::relative_error(rounded, exact), 0.1);
}

TEST(NetworkPrior, AnotherPixelRangeIsTheChainRule) {
  c10::NoGradGuard no_gradients;
  const auto file = prior_file({{"pixel_range", {0, 1}}});
  const auto own = load(file), mapped = load(file, "compute: float32, pixel_range: [-1, 1]");
  EXPECT_EQ(own->pixel_range(), (std::pair{0.0, 1.0}));
  EXPECT_EQ(mapped->pixel_range(), (std::pair{-1.0, 1.0}));
  EXPECT_DOUBLE_EQ(mapped->sigma_range().low, 0.01);
  EXPECT_DOUBLE_EQ(mapped->sigma_range().high, 800);
  const auto x = noise({2, 1, 8, 12});
  for (const double sigma : {0.02, 0.5, 700.0}) {
    // The network's pixel is u = (x + 1) / 2.
    const auto u = (x + 1) / 2;
    EXPECT_LT(test::relative_error(mapped->score(x, sigma), own->score(u, sigma / 2) / 2), 1e-5) << sigma;
    EXPECT_LT(test::relative_error(mapped->denoise(x, sigma), 2 * own->denoise(u, sigma / 2) - 1), 1e-4) << sigma;
  }
  EXPECT_THROW(mapped->score(x, 0.009), InputError);
  EXPECT_NO_THROW(mapped->score(x, 0.0101));
}

TEST(NetworkPrior, OutsideItsRangeItRefusesOrClamps) {
  c10::NoGradGuard no_gradients;
  const auto file = prior_file();
  const auto strict = load(file), clamped = load(file, "compute: float32, out_of_range: clamp");
  const auto x = noise({1, 1, 8, 12});
  for (const double sigma : {0.004, 401.0}) {
    const auto message = message_of([&] { strict->score(x, sigma); });
    EXPECT_TRUE(contains(message, "[0.005, 400]") && contains(message, "out_of_range: clamp")) << message;
    EXPECT_TRUE(clamped->score(x, sigma).equal(strict->score(x, std::clamp(sigma, 0.005, 400.0))));
  }
}

TEST(NetworkPrior, Float64ImagesComeBackAsFloat64) {
  const auto prior = load(prior_file(), "compute: float32", at::kDouble);
  EXPECT_EQ(prior->score(noise({1, 1, 8, 12}).to(at::kDouble), 1).scalar_type(), at::kDouble);
}

TEST(NetworkPrior, PublishedDnCnnDenoisesFaces) {
  const auto file = test::shared("data/denoisers/kair_MIT/dncnn_25.pth"), folder = test::shared("data/face128/test");
  if (!file || !folder) GTEST_SKIP() << "no ../shared/data here";
  c10::NoGradGuard no_gradients;
  const double sigma = 25.0 / 255;
  const auto prior = load(*file, fmt::format("compute: float32, sigma_range: [{0}, {0}], network_pixel_range: [0, 1], "
                                             "image_shape: [1, 128, 128]",
                                             sigma));
  std::vector<fs::path> images(fs::directory_iterator(*folder), {});
  std::ranges::sort(images);
  double before = 0, after = 0;
  int count = 0;
  const auto psnr = [](const Tensor& a, const Tensor& b) {
    return -10 * std::log10((a - b).square().mean().item<double>());
  };
  for (size_t i = 0; i < images.size(); i += 6, ++count) {
    const auto image = io::read_image(images[i], 0, 1).to(at::kFloat).reshape({1, 1, 128, 128});
    const auto y = image + sigma * noise({1, 1, 128, 128}, static_cast<int64_t>(i));
    before += psnr(y, image);
    after += psnr(prior->denoise(y, sigma), image);
  }
  // -20 log10(25/255) = 20.17; all 60 images gave 31.49 dB.
  EXPECT_NEAR(before / count, 20.17, 0.1);
  EXPECT_GT(after / count, before / count + 10);
  EXPECT_NEAR(after / count, 31.5, 1);
}

TEST(NetworkPrior, DnCnnNeedsItsNoiseLevel) {
  const json architecture{{"kind", "dncnn"}, {"model_channels", 4}, {"depth", 3}};
  const auto path = test::scratch() / "0.safetensors";
  io::write_safetensors(path, test::random_weights(Architecture(architecture, "test")), nullptr);
  EXPECT_TRUE(contains(refusal(path, "image_shape: [1, 8, 8]"), "sigma_range"));
  EXPECT_TRUE(contains(refusal(path, "sigma_range: [0.1, 0.1]"), "image_shape"));
  for (const auto* wrong : {"[-1, 1]", "[2, 1]", "[0, 1]", "[0.1]", "[0.1, 1e300]", "[0.1, .inf]", "0.1"})
    EXPECT_TRUE(contains(refusal(path, fmt::format("image_shape: [1, 8, 8], sigma_range: {}", wrong)), "sigma_range"))
        << wrong;
  for (const auto* wrong : {"[0, 8, 8]", "[1, 8.5, 8]", "[1, 8]", "[1, -8, 8]", "[1, 1e300, 8]", "[2, 8, 8]"})
    EXPECT_FALSE(refusal(path, fmt::format("sigma_range: [0.1, 0.1], image_shape: {}", wrong)).empty()) << wrong;
  EXPECT_TRUE(refusal(path, "sigma_range: [0.1, 0.1], image_shape: [1, 9, 7]").empty());
}

TEST(NetworkPrior, RefusesAConfigurationThatContradictsTheHeader) {
  const auto file = prior_file();
  EXPECT_TRUE(contains(refusal(file, "image_shape: [1, 16, 16]"), "expected 1x8x12"));
  EXPECT_TRUE(refusal(file, "image_shape: [1, 8, 12]").empty());
  for (const auto* more : {"sigma_range: [0.1, 1]", "parameterisation: score", "sigma_data: 0.5", "arch: net.json",
                           "network_pixel_range: [0, 1]"})
    EXPECT_TRUE(contains(refusal(file, more), "says this itself")) << more;
  for (const auto* more : {"pixel_range: [1, 1]", "pixel_range: [1]", "pixel_range: [-1e300, 1e300]"})
    EXPECT_TRUE(contains(refusal(file, more), "pixel_range")) << more;
  EXPECT_TRUE(contains(refusal(file, "label: 0"), "knows no classes"));
  EXPECT_TRUE(contains(refusal(file, "compute: int8"), "compute"));
}

TEST(NetworkPrior, ClassesNeedALabel) {
  auto architecture = tiny();
  architecture["num_classes"] = 3;
  const auto file = prior_file(json::object(), architecture);
  EXPECT_TRUE(contains(refusal(file), "label"));
  for (const auto* label : {"-1", "3", "1.5", "cat"})
    EXPECT_TRUE(contains(refusal(file, fmt::format("label: {}", label)), "label")) << label;
  const auto x = noise({1, 1, 8, 12});
  const auto first = load(file, "compute: float32, label: 0"), last = load(file, "compute: float32, label: 2");
  EXPECT_GT(test::relative_error(first->score(x, 0.5), last->score(x, 0.5)), 1e-3);
  // The comparison with bfloat16 has to give a label too.
  EXPECT_NO_THROW(load(file, "compute: auto, label: 1"));
}

TEST(NetworkPrior, RefusesTensorsOfAnotherArchitecture) {
  const auto header = header_of(tiny());
  const auto good = weights_of(header);
  const std::string name = "out.2.weight";
  const auto refused = [&](const std::function<void(Weights&)>& change) {
    auto weights = good;
    change(weights);
    return refusal(prior_file(weights, header.to_json()));
  };
  EXPECT_TRUE(contains(refused([&](Weights& w) { w.erase(name); }), name + ": expected a tensor of 1x32x3x3"));
  EXPECT_TRUE(contains(refused([&](Weights& w) { w["more"] = at::ones({3}); }), "more: no such parameter"));
  EXPECT_TRUE(contains(refused([&](Weights& w) { w[std::string(1000, 'x')] = at::ones({3}); }), "no such parameter"));
  EXPECT_TRUE(contains(refused([&](Weights& w) {
                         w[name] = at::ones({1, 32, 3});
                       }),
                       "expected 1x32x3x3, found 1x32x3"));
  EXPECT_TRUE(
      contains(refused([&](Weights& w) { w[name] = w[name].to(at::kInt); }), "floating-point numbers, found Int"));
  for (const double bad : {std::nan(""), HUGE_VAL})
    EXPECT_TRUE(contains(refused([&](Weights& w) {
                           w[name] = at::full({1, 32, 3, 3}, bad);
                         }),
                         name + ": expected finite"));
  EXPECT_TRUE(refused([](Weights&) {}).empty());
  EXPECT_TRUE(refused([&](Weights& w) { w[name] = w[name].to(at::kHalf); }).empty());
}

TEST(NetworkPrior, RefusesWrongTypesInEveryFieldOfItsHeader) {
  const auto good = header_of(tiny()).to_json();
  for (const auto& [field, value] : good.items())
    for (const json& wrong :
         {json(nullptr), json("text"), json(-3), json(1e308), json(false), json::array(), json::array({1, "x", {}}),
          json{{"kind", 3}}, json{{"kind", "transformer"}}, json::array({1e308, HUGE_VAL})}) {
      if ((field == "name" && wrong.is_string()) || (field == "record" && wrong.is_object())) continue;
      const auto message = refusal(prior_file({{field, wrong}}));
      const bool named = contains(message, field) || contains(message, "header." + field);
      EXPECT_TRUE(named) << field << " = " << wrong << ": " << message;
    }
  for (const auto* field :
       {"format", "architecture", "parameterisation", "sigma_range", "pixel_range", "image_shape"}) {
    auto header = header_of(tiny()).to_json();
    header.erase(field);
    EXPECT_TRUE(contains(refusal(prior_file(weights_of(header_of(tiny())), header)), field)) << field;
  }
}

TEST(NetworkPrior, RefusesAbsurdSizesBeforeItAllocates) {
  EXPECT_TRUE(contains(refusal(prior_file({{"image_shape", {1, 65536, 65537}}})), "image_shape"));
  EXPECT_TRUE(contains(refusal(prior_file({{"image_shape", {1, 9, 12}}})), "multiples of 2"));
  // 2^32 pixels of 32 channels are a tebibyte.
  const auto message = refusal(prior_file({{"image_shape", {1, 65536, 65536}}}), "compute: auto");
  EXPECT_TRUE(contains(message, "1x65536x65536: one evaluation takes more than 1024 GiB")) << message;
  for (const json& absurd : {json{{"model_channels", 4096}, {"channel_mult", {1, 16, 16}}, {"num_res_blocks", 16}},
                             json{{"channel_mult", {1, 1e9}}}, json{{"channel_mult", json::array_t(100, 1)}},
                             json{{"model_channels", 1e18}}, json{{"num_classes", 1000000}}}) {
    auto architecture = tiny();
    architecture.update(absurd);
    EXPECT_FALSE(refusal(prior_file({{"architecture", architecture}})).empty()) << absurd;
  }
}

TEST(NetworkPrior, RefusesFilesThatAreNone) {
  const auto folder = test::scratch();
  test::write_text(folder / "notes.pth", "these are not weights");
  EXPECT_TRUE(contains(refusal(folder / "notes.pth"), "safetensors or as torch.save"));
  test::write_text(folder / "empty.pth", "");
  EXPECT_FALSE(refusal(folder / "empty.pth").empty());
  EXPECT_TRUE(contains(refusal(folder), "expected an existing file"));
  EXPECT_TRUE(contains(refusal(folder / "gone.pth"), "gone.pth"));
  io::write_safetensors(folder / "run.safetensors", {{"x", at::ones({2, 2})}}, {{"k", 3}});
  EXPECT_TRUE(contains(refusal(folder / "run.safetensors"), "header.format"));
  EXPECT_TRUE(contains(refusal(folder / "run.safetensors", "name: tiny"), "either a file of weights or the name"));
}

/// Sets an environment variable until the end of its scope.
struct Environment {
  explicit Environment(const fs::path& value) {
    if (const char* now = std::getenv(name)) before = now;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() { before ? setenv(name, before->c_str(), 1) : unsetenv(name); }
  const char* name = "PENUMBRA_PRIORS";
  std::optional<std::string> before;
};

/// A run goes on only with the same files, however the configuration names them.
TEST(ShippedPrior, CountsAmongTheFilesOfTheConfiguration) {
  const auto file = prior_file();
  const Environment here(file.parent_path());
  auto settings = Settings::from_text("{kind: network, name: tiny, compute: float32}", "prior.yaml");
  make_prior(settings, {at::kFloat, at::kCPU});
  EXPECT_EQ(settings.files(), std::vector{file});
}

TEST(NetworkPrior, TheBasesOfItsArchitectureCountAmongTheFiles) {
  auto options = tiny();
  options.erase("kind");
  options["image_size"] = 8;
  const auto plain = prior_file(test::random_weights(Architecture(tiny(), "test"), 3), nullptr);
  const auto folder = plain.parent_path();
  test::write_text(folder / "base.yaml", options.dump());
  test::write_text(folder / "net.yaml", "_BASE_: base.yaml\nnum_res_blocks: 1\n");
  auto settings = Settings::from_text(fmt::format("{{kind: network, file: {}, arch: {}, compute: float32}}",
                                                  plain.string(), (folder / "net.yaml").string()),
                                      "prior.yaml");
  make_prior(settings, {at::kFloat, at::kCPU});
  EXPECT_EQ(settings.files(), (std::vector{plain, folder / "net.yaml", folder / "base.yaml"}));
}

TEST(ShippedPrior, IsFoundByNameOrTheOthersAreListed) {
  const auto folder = prior_file().parent_path();
  test::write_text(folder / "notes.txt", "no prior");
  fs::copy(folder / "tiny.safetensors", folder / "other.safetensors");
  const Environment here(folder);
  EXPECT_EQ(shipped_prior("tiny"), folder / "tiny.safetensors");
  for (const auto* wrong : {"tyni", "../tiny", "notes", "tiny.safetensors", ""}) {
    const auto message = message_of([&] { shipped_prior(wrong); });
    EXPECT_TRUE(contains(message, "no prior of this name")) << message;
    EXPECT_TRUE(contains(message, "tiny") && contains(message, "other") && !contains(message, ", notes")) << message;
  }
  const auto by_name =
      make_prior(Settings::from_text("{kind: network, name: tiny}", "prior.yaml"), {at::kFloat, at::kCPU});
  EXPECT_EQ(by_name->image_shape(), (Shape{1, 8, 12}));
}

TEST(ShippedPrior, AFolderThatIsNotThereHasNone) {
  const Environment nowhere(test::scratch() / "gone");
  EXPECT_TRUE(contains(message_of([] { shipped_prior("no-such-prior"); }), "no prior of this name"));
}

ScoreNetwork bound(const NetworkHeader& header, const Weights& weights, Compute compute) {
  return bind_network(header, weights, compute, at::kCPU, "test");
}

TEST(Compute, Bfloat16IsCloseToFloat32) {
  c10::NoGradGuard no_gradients;
  const auto header = header_of(tiny(), {{"image_shape", {1, 16, 16}}});
  const auto weights = weights_of(header);
  const auto exact = bound(header, weights, Compute::float32), fast = bound(header, weights, Compute::bfloat16);
  EXPECT_EQ(fast.compute, at::kBFloat16);
  for (const double sigma : {0.01, 0.3, 20.0}) {
    const auto x = std::max(0.5, sigma) * noise({2, 1, 16, 16});
    const auto s = at::full({2}, sigma, float32);
    const auto a = exact.score(x, s), b = fast.score(x, s);
    EXPECT_EQ(b.scalar_type(), at::kFloat);
    EXPECT_LT(test::relative_distance(b, a), 0.02) << sigma;
    EXPECT_GT(test::relative_distance(b, a), 1e-6) << sigma;
  }
#if defined(__x86_64__)
  const bool faster = __builtin_cpu_supports("avx512bf16");
#else
  const bool faster = false;
#endif
  // Not at the smallest sigmas: against a grey image the network of random weights sees its own biases most.
  const auto chosen = bound(header_of(tiny(), {{"sigma_range", {0.2, 400}}}), weights, Compute::fastest);
  EXPECT_EQ(chosen.compute, faster ? at::kBFloat16 : at::kFloat);
}

/// A DnCNN of two layers that pass single pixels: out = sum_i out_i relu(in_i x).
Weights two_layers(const std::vector<double>& in, const std::vector<double>& out) {
  const auto channels = static_cast<int64_t>(in.size());
  Weights weights{{"0.weight", at::zeros({channels, 1, 3, 3})},
                  {"0.bias", at::zeros({channels})},
                  {"2.weight", at::zeros({1, channels, 3, 3})},
                  {"2.bias", at::zeros({1})}};
  for (int64_t i = 0; i < channels; ++i) {
    weights["0.weight"][i][0][1][1] = in[static_cast<size_t>(i)];
    weights["2.weight"][0][i][1][1] = out[static_cast<size_t>(i)];
  }
  return weights;
}

TEST(Compute, AutoTakesFloat32WhereBfloat16IsWrong) {
  const auto header = [](int64_t channels) {
    return header_of({{"kind", "dncnn"}, {"model_channels", channels}, {"depth", 2}},
                     {{"parameterisation", "noise"}, {"sigma_range", {0.01, 0.01}}});
  };
  // 1.001 and 1 are one number in bfloat16, and their difference is all there is.
  EXPECT_EQ(bound(header(2), two_layers({1.001, 1}, {1, -1}), Compute::fastest).compute, at::kFloat);
  // 3.4e38 is infinite there, and the difference of two infinities no number.
  EXPECT_EQ(bound(header(3), two_layers({3.4e38, 3.4e38, 1}, {1e-30, -1e-30, 1}), Compute::fastest).compute,
            at::kFloat);
  // A network of zeros is right in any type.
  EXPECT_NO_THROW(bound(header(2), two_layers({0, 0}, {0, 0}), Compute::fastest));
}

}  // namespace
}  // namespace penumbra
