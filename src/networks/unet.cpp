#include "networks/unet.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/error.h"
#include "networks/pixel_ops.h"

namespace penumbra {
namespace {

/// Sines and cosines of t at geometric frequencies from 1 to 1/10000.
Tensor timestep_features(const Tensor& t, int64_t width) {
  const auto half = width / 2;
  const auto frequency =
      (-std::log(10000.0) * at::arange(half, t.options()) / static_cast<double>(half)).exp().unsqueeze(0);
  const auto phase = t.unsqueeze(1) * frequency;
  auto features = at::cat({phase.cos(), phase.sin()}, 1);
  return width % 2 == 0 ? features : at::cat({features, at::zeros_like(features.narrow(1, 0, 1))}, 1);
}

/// The factors in the official order: phases of thousands of turns are rounded, and should be so alike.
Tensor fourier_features(const Tensor& value, const Tensor& frequency) {
  const auto phase = value.unsqueeze(1) * frequency.unsqueeze(0) * (2 * M_PI);
  return at::cat({phase.sin(), phase.cos()}, 1);
}

}  // namespace

/// Builds the stages in the order of the official code, whose lists number the parameters' names.
struct UNet::Builder {
  const UNetOptions& options;
  const ParameterSource& source;
  int64_t channels = 0, factor = 1;

  int64_t embedding_width() const { return options.use_embed ? 4 * options.model_channels : 0; }

  Layer residual(const std::string& name, int64_t in, int64_t out, Resample resample = Resample::none) const {
    ResidualBlock block;
    block.resample = resample;
    block.scale_shift = options.use_scale_shift_norm;
    block.dropout = options.dropout;
    block.in_norm = Normalization(source, name + ".in_layers.0", in);
    block.in_conv = Convolution(source, name + ".in_layers.2", in, out);
    if (options.use_embed)
      block.embedding =
          Linear(source, name + ".emb_layers.1", embedding_width(), options.use_scale_shift_norm ? 2 * out : out);
    block.out_norm = Normalization(source, name + ".out_layers.0", out);
    block.out_conv = Convolution(source, name + ".out_layers.3", out, out, 3, Initial::zero);
    if (in != out) block.skip = Convolution(source, name + ".skip_connection", in, out, 1);
    Layer layer;
    layer.block = std::move(block);
    return layer;
  }

  Layer attention(const std::string& name, int64_t heads) const {
    Layer layer;
    layer.attention =
        Attention(source, name, channels, options.num_head_channels > 0 ? channels / options.num_head_channels : heads,
                  options.use_new_attention_order ? Attention::Order::qkv_first : Attention::Order::heads_first);
    return layer;
  }

  Layer step(const std::string& name, Resample resample) const {
    if (options.resblock_updown) return residual(name, channels, channels, resample);
    Layer layer;
    layer.resample = resample;
    if (options.conv_resample)
      layer.conv = resample == Resample::down
                       ? Convolution(source, name + ".op", channels, channels, 3, Initial::fan_in, 2)
                       : Convolution(source, name + ".conv", channels, channels);
    return layer;
  }

  bool attends() const {
    return std::ranges::find(options.attention_resolutions, factor) != options.attention_resolutions.end();
  }
};

UNet::UNet(const UNetOptions& options, const ParameterSource& source) : options_(options) {
  Builder build{options, source};
  if (const auto width = build.embedding_width(); width > 0) {
    const bool fourier = options.network_mode == UNetOptions::Mode::sigma;
    embed_in_ = Linear(source, "auxil_embed.0", options.model_channels * (fourier ? 2 : 1), width);
    embed_out_ = Linear(source, "auxil_embed.2", width, width);
    if (fourier)
      fourier_ =
          source({"fourier_proj.W", {options.model_channels}, Initial::normal, 1, options.fourier_scale, false, true});
  }
  if (options.num_classes > 0)
    label_table_ = source(
        {"label_emb.weight", {options.num_classes, 4 * options.model_channels}, Initial::normal, 1, 1, true, true});

  const auto levels = options.channel_mult.size();
  build.channels = options.channels_at(0);
  Layer first;
  // The image itself is not rounded to a short type: at small sigma that would be noise of its own.
  first.conv =
      Convolution(source, "input_blocks.0.0", options.in_channels, build.channels, 3, Initial::fan_in, 1, true);
  down_.push_back({first});
  std::vector<int64_t> skips{build.channels};
  for (size_t level = 0; level < levels; ++level) {
    for (int64_t i = 0; i < options.num_res_blocks; ++i) {
      const auto name = fmt::format("input_blocks.{}.", down_.size());
      Stage stage{build.residual(name + "0", build.channels, options.channels_at(level))};
      build.channels = options.channels_at(level);
      if (build.attends()) stage.push_back(build.attention(name + "1", options.num_heads));
      down_.push_back(std::move(stage));
      skips.push_back(build.channels);
    }
    if (level + 1 < levels) {
      down_.push_back({build.step(fmt::format("input_blocks.{}.0", down_.size()), Resample::down)});
      skips.push_back(build.channels);
      build.factor *= 2;
    }
  }

  middle_.push_back(build.residual("middle_block.0", build.channels, build.channels));
  middle_.push_back(build.attention("middle_block.1", options.num_heads));
  middle_.push_back(build.residual("middle_block.2", build.channels, build.channels));

  const auto heads_up = options.num_heads_upsample > 0 ? options.num_heads_upsample : options.num_heads;
  for (size_t level = levels; level-- > 0;)
    for (int64_t i = 0; i <= options.num_res_blocks; ++i) {
      const auto name = fmt::format("output_blocks.{}.", up_.size());
      Stage stage{build.residual(name + "0", build.channels + skips.back(), options.channels_at(level))};
      skips.pop_back();
      build.channels = options.channels_at(level);
      if (build.attends()) stage.push_back(build.attention(name + "1", heads_up));
      if (level > 0 && i == options.num_res_blocks) {
        stage.push_back(build.step(fmt::format("{}{}", name, stage.size()), Resample::up));
        build.factor /= 2;
      }
      up_.push_back(std::move(stage));
    }
  out_norm_ = Normalization(source, "out.0", build.channels);
  out_conv_ = Convolution(source, "out.2", build.channels, options.out_channels, 3, Initial::zero);
  // Weights that are trained are not copied: the copies would stay what they were.
  if (embed_in_ && embed_in_->weight.is_cuda() && !embed_in_->weight.requires_grad()) join_films();
}

void UNet::join_films() {
  std::vector<ResidualBlock*> blocks;
  const auto collect = [&](Stage& stage) {
    for (auto& layer : stage)
      if (layer.block) blocks.push_back(&*layer.block);
  };
  for (auto& stage : down_) collect(stage);
  collect(middle_);
  for (auto& stage : up_) collect(stage);
  std::vector<Tensor> weights, biases;
  int64_t start = 0;
  for (auto* block : blocks) {
    weights.push_back(block->embedding->weight);
    biases.push_back(block->embedding->bias);
    block->film_start = start;
    start += weights.back().size(0);
  }
  films_ = Linear();
  films_->weight = at::cat(weights);
  films_->bias = at::cat(biases);
  // The blocks' own are parts of it from now on: no memory is used twice.
  for (auto* block : blocks) {
    const auto rows = block->embedding->weight.size(0);
    block->embedding->weight = films_->weight.narrow(0, block->film_start, rows);
    block->embedding->bias = films_->bias.narrow(0, block->film_start, rows);
  }
}

Features UNet::ResidualBlock::operator()(at::ArrayRef<Features> parts, const Condition& condition, bool drop) const {
  auto h = in_conv.unbiased(in_norm(parts, {}, true, resample));
  Tensor film;
  if (embedding) {
    const auto shift = condition.films.defined() ? condition.films.narrow(1, film_start, embedding->bias.size(0))
                                                 : (*embedding)(condition.embedding);
    if (scale_shift)
      film = shift;
    else
      h.value = h.value + shift.to(h.value.scalar_type()).unsqueeze(-1).unsqueeze(-1);
  }
  auto activated = out_norm(h, film);
  if (drop && dropout > 0) activated = at::dropout(activated, dropout, true);
  auto change = out_conv.unbiased(activated);
  if (skip) return add_skip(*skip, parts, std::move(change));
  // Blocks that resample keep their channels, and read one tensor.
  return add_to(parts[0].value, std::move(change), resample);
}

Features UNet::run(const Stage& stage, std::vector<Features> parts, const Condition& condition, bool drop) {
  for (const auto& layer : stage) {
    if (layer.block) {
      parts = {(*layer.block)(parts, condition, drop)};
    } else if (layer.attention) {
      parts = {(*layer.attention)(parts[0])};
    } else {
      // A convolution of stride 2 is the down step itself.
      auto h = parts[0].value;
      if (layer.resample == Resample::up) h = twice(h);
      if (layer.resample == Resample::down && !layer.conv) h = halve(h);
      if (layer.conv) h = (*layer.conv)(h);
      parts = {{h}};
    }
  }
  return parts[0];
}

/// SiLU of the embedding is all that the residual blocks use of it.
UNet::Condition UNet::embed(const Tensor& condition, const Tensor& labels) const {
  if (!embed_in_) return {};
  const auto features = fourier_.defined() ? fourier_features(condition, fourier_)
                                           : timestep_features(condition, options_.model_channels);
  auto embedding = (*embed_out_)(at::silu((*embed_in_)(features)));
  if (label_table_.defined()) embedding = embedding + label_table_.index_select(0, labels);
  embedding = at::silu(embedding);
  return {embedding, films_ ? (*films_)(embedding) : Tensor()};
}

Tensor UNet::operator()(const NetworkInput& input) const {
  const auto condition = embed(input.condition, input.labels);
  // From here on in the type and memory format of the other weights; an image of one channel does not tell its own.
  const auto& weight = down_[1][0].block->in_conv.weight;
  auto h = down_[0][0].conv->into(input.x, weight);
  std::vector<Features> skips{h};
  for (size_t i = 1; i < down_.size(); ++i) {
    h = run(down_[i], {h}, condition, input.drop);
    skips.push_back(h);
  }
  h = run(middle_, {h}, condition, input.drop);
  for (const auto& stage : up_) {
    h = run(stage, side_by_side(h, skips.back()), condition, input.drop);
    skips.pop_back();
  }
  return finish(out_norm_, out_conv_, h);
}

}  // namespace penumbra
