/// The U-Net against a second forward pass, slow and in float64, that knows the parameters by name only.
///
/// Convolutions are sums of shifted products, heads are taken one by one: nothing is shared with src/networks but the
/// names. The golden files cover one arrangement of the options; this covers the others.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/random.h"
#include "support/paths.h"
#include "support/random_weights.h"

namespace penumbra {
namespace {

using nlohmann::json;
using Weights = std::map<std::string, Tensor>;

Tensor swish(const Tensor& x) { return x / (1 + (-x).exp()); }

class Reference {
 public:
  Reference(const json& options, const Weights& weights) : o_(options) {
    for (const auto& [name, tensor] : weights) w_[name] = tensor.to(at::kDouble);
  }

  Tensor operator()(const Tensor& x, const Tensor& condition, const Tensor& labels) {
    if (o_["use_embed"].get<bool>()) {
      embedding_ = dense("auxil_embed.2", swish(dense("auxil_embed.0", features(condition))));
      if (labels.defined()) embedding_ = embedding_ + w_.at("label_emb.weight").index_select(0, labels);
    }
    const auto multiples = o_["channel_mult"].get<std::vector<double>>();
    const int levels = static_cast<int>(multiples.size()), blocks = o_["num_res_blocks"].get<int>();
    const int up_heads = o_["num_heads_upsample"].get<int>() > 0 ? o_["num_heads_upsample"] : o_["num_heads"];
    auto h = convolve("input_blocks.0.0", x);
    std::vector<Tensor> kept{h};
    int number = 1;
    for (int level = 0; level < levels; ++level) {
      for (int i = 0; i < blocks; ++i) {
        const auto name = fmt::format("input_blocks.{}", number++);
        h = residual(name + ".0", h, same);
        if (attends(level)) h = attend(name + ".1", h, o_["num_heads"]);
        kept.push_back(h);
      }
      if (level + 1 == levels) break;
      const auto name = fmt::format("input_blocks.{}.0", number++);
      if (o_["resblock_updown"].get<bool>())
        h = residual(name, h, shrink);
      else
        h = o_["conv_resample"].get<bool>() ? every_second(convolve(name + ".op", h)) : shrink(h);
      kept.push_back(h);
    }
    h = residual("middle_block.0", h, same);
    h = residual("middle_block.2", attend("middle_block.1", h, o_["num_heads"]), same);
    number = 0;
    for (int level = levels - 1; level >= 0; --level)
      for (int i = 0; i <= blocks; ++i) {
        const auto name = fmt::format("output_blocks.{}", number++);
        h = residual(name + ".0", at::cat({h, kept.back()}, 1), same);
        kept.pop_back();
        if (attends(level)) h = attend(name + ".1", h, up_heads);
        if (level == 0 || i < blocks) continue;
        const auto step = fmt::format("{}.{}", name, attends(level) ? 2 : 1);
        if (o_["resblock_updown"].get<bool>())
          h = residual(step, h, grow);
        else
          h = o_["conv_resample"].get<bool>() ? convolve(step + ".conv", grow(h)) : grow(h);
      }
    return convolve("out.2", swish(normalise("out.0", h)));
  }

 private:
  static Tensor same(const Tensor& x) { return x; }
  static Tensor every_second(const Tensor& x) { return x.slice(2, 0, {}, 2).slice(3, 0, {}, 2); }
  static Tensor shrink(const Tensor& x) {
    return (every_second(x) + every_second(x.slice(2, 1)) + every_second(x.slice(3, 1)) +
            every_second(x.slice(2, 1).slice(3, 1))) /
           4;
  }
  static Tensor grow(const Tensor& x) { return x.repeat_interleave(2, 2).repeat_interleave(2, 3); }

  bool attends(int level) const {
    for (const auto& factor : o_["attention_resolutions"])
      if (factor.get<int>() == 1 << level) return true;
    return false;
  }

  Tensor features(const Tensor& t) const {
    std::vector<Tensor> first, second;
    const auto width = o_["model_channels"].get<int64_t>();
    if (o_["network_mode"].get<std::string>() == "timestep") {
      for (int64_t i = 0; i < width / 2; ++i) {
        const double frequency = std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(width / 2));
        first.push_back((t * frequency).cos());
        second.push_back((t * frequency).sin());
      }
    } else {
      for (int64_t i = 0; i < width; ++i) {
        const auto turns = t * w_.at("fourier_proj.W")[i];
        first.push_back((2 * M_PI * turns).sin());
        second.push_back((2 * M_PI * turns).cos());
      }
    }
    first.insert(first.end(), second.begin(), second.end());
    return at::stack(first, 1);
  }

  Tensor dense(const std::string& name, const Tensor& x) const {
    return (x.unsqueeze(1) * w_.at(name + ".weight").unsqueeze(0)).sum(2) + w_.at(name + ".bias");
  }

  Tensor convolve(const std::string& name, const Tensor& x) const {
    const auto& weight = w_.at(name + ".weight");
    const auto reach = weight.size(2) / 2;
    const auto wide = at::constant_pad_nd(x, {reach, reach, reach, reach});
    auto sum = w_.at(name + ".bias").reshape({1, -1, 1, 1});
    for (int64_t i = 0; i < weight.size(2); ++i)
      for (int64_t j = 0; j < weight.size(3); ++j)
        sum = sum + at::einsum("oc,nchw->nohw", {weight.select(3, j).select(2, i),
                                                 wide.narrow(2, i, x.size(2)).narrow(3, j, x.size(3))});
    return sum;
  }

  Tensor normalise(const std::string& name, const Tensor& x) const {
    const auto groups = x.reshape({x.size(0), 32, -1});
    const auto centred = groups - groups.mean(2, true);
    const auto unit = (centred / (centred.square().mean(2, true) + 1e-5).sqrt()).reshape(x.sizes());
    return unit * column(w_.at(name + ".weight")) + column(w_.at(name + ".bias"));
  }
  static Tensor column(const Tensor& number) { return number.unsqueeze(-1).unsqueeze(-1); }

  Tensor residual(const std::string& name, const Tensor& x, Tensor (*resample)(const Tensor&)) const {
    auto h = convolve(name + ".in_layers.2", resample(swish(normalise(name + ".in_layers.0", x))));
    const bool scale_shift = o_["use_scale_shift_norm"].get<bool>();
    const auto shift = embedding_.defined() ? column(dense(name + ".emb_layers.1", swish(embedding_))) : Tensor();
    if (shift.defined() && !scale_shift) h = h + shift;
    h = normalise(name + ".out_layers.0", h);
    if (shift.defined() && scale_shift)
      h = h * (1 + shift.narrow(1, 0, h.size(1))) + shift.narrow(1, h.size(1), h.size(1));
    h = convolve(name + ".out_layers.3", swish(h));
    const auto kept = resample(x);
    return h + (w_.contains(name + ".skip_connection.weight") ? convolve(name + ".skip_connection", kept) : kept);
  }

  Tensor attend(const std::string& name, const Tensor& x, int64_t heads) const {
    const auto channels = x.size(1);
    if (const auto wide = o_["num_head_channels"].get<int64_t>(); wide > 0) heads = channels / wide;
    const auto width = channels / heads;
    const auto qkv =
        at::einsum("oc,ncp->nop", {w_.at(name + ".qkv.weight").squeeze(2), normalise(name + ".norm", x).flatten(2)}) +
        w_.at(name + ".qkv.bias").unsqueeze(1);
    std::vector<Tensor> results;
    for (int64_t head = 0; head < heads; ++head) {
      // Where q, k and v of this head begin among the 3 x channels.
      const auto part = [&](int64_t which) {
        const auto first =
            o_["use_new_attention_order"].get<bool>() ? which * channels + head * width : (3 * head + which) * width;
        return qkv.narrow(1, first, width);
      };
      const auto logits = at::einsum("ncp,ncs->nps", {part(0), part(1)}) / std::sqrt(static_cast<double>(width));
      const auto likeness = (logits - logits.amax(2, true)).exp();
      results.push_back(at::einsum("nps,ncs->ncp", {likeness / likeness.sum(2, true), part(2)}));
    }
    const auto out = at::einsum("oc,ncp->nop", {w_.at(name + ".proj_out.weight").squeeze(2), at::cat(results, 1)}) +
                     w_.at(name + ".proj_out.bias").unsqueeze(1);
    return x + out.reshape(x.sizes());
  }

  json o_;
  Weights w_;
  Tensor embedding_;
};

struct Arrangement {
  std::string name;
  json change;
};

struct SecondForwardPass : testing::TestWithParam<Arrangement> {};

TEST_P(SecondForwardPass, IsTheSameFunction) {
  c10::NoGradGuard no_gradients;
  json options{{"model_channels", 32},
               {"channel_mult", {1, 2}},
               {"attention_resolutions", {2}},
               {"fourier_scale", 0.5},
               {"num_res_blocks", 1}};
  options.update(GetParam().change);
  const Architecture architecture(options, "test");
  const auto weights = test::random_weights(architecture, 5);
  const auto channels = architecture.channels();
  const auto x =
      normal({6, 0, 0}, Stream::probe, at::empty({2, channels, 8, 12}, at::TensorOptions().dtype(at::kFloat)));
  const auto condition = at::tensor({0.03, 2.5}, at::TensorOptions().dtype(at::kFloat));
  const auto network = test::network_of(architecture, weights);
  const auto labels = network->classes() > 0 ? at::tensor({1, 0}, at::TensorOptions().dtype(at::kLong)) : Tensor();
  const auto ours = (*network)({x, condition, labels, false});
  const auto exact = Reference(architecture.to_json(), weights)(x.to(at::kDouble), condition.to(at::kDouble), labels);
  ASSERT_EQ(ours.sizes(), exact.sizes());
  // Thirty layers of float32: each rounds to 6e-8 and passes on what it got.
  EXPECT_LT(test::relative_error(ours, exact), 2e-5);
}

INSTANTIATE_TEST_SUITE_P(
    UNet, SecondForwardPass,
    testing::Values(Arrangement{"PlainStepsWithConvolution", {{"conv_resample", true}}},
                    Arrangement{"PlainStepsWithout", {{"conv_resample", false}, {"use_scale_shift_norm", true}}},
                    Arrangement{"ResidualStepsAdditiveEmbedding", {{"resblock_updown", true}}},
                    Arrangement{"ResidualStepsScaleShift",
                                {{"resblock_updown", true}, {"use_scale_shift_norm", true}, {"num_head_channels", 32}}},
                    Arrangement{"NewAttentionOrder", {{"use_new_attention_order", true}, {"num_heads", 4}}},
                    Arrangement{"OtherHeadsOnTheWayUp",
                                {{"num_heads", 2}, {"num_heads_upsample", 8}, {"attention_resolutions", {1, 2}}}},
                    Arrangement{"Timestep", {{"network_mode", "timestep"}, {"num_res_blocks", 2}}},
                    Arrangement{"NoEmbedding", {{"use_embed", false}, {"resblock_updown", true}}},
                    Arrangement{"Classes", {{"num_classes", 2}}},
                    Arrangement{"ColourAndFractions",
                                {{"in_channels", 3},
                                 {"out_channels", 3},
                                 {"model_channels", 64},
                                 {"channel_mult", {0.5, 1, 1.5}},
                                 {"resblock_updown", true}}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace penumbra
