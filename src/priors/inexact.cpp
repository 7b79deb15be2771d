#include "priors/inexact.h"

#include <ATen/ATen.h>

namespace penumbra {
namespace {

/// Uniform in the unit ball of each chain's n dimensions: a normal direction, a radius u^(1/n).
Tensor in_unit_ball(const Cursor& at, const Tensor& like) {
  const auto n = static_cast<double>(like.numel()) / static_cast<double>(like.size(0));
  const auto direction = normal(at, Stream::score_error, like);
  const auto u = uniform(at, Stream::resample, like.new_empty({like.size(0), 1})).select(1, 0);
  return direction * per_chain(u.pow(1 / n) / norm_per_chain(direction), like);
}

}  // namespace

InexactScore::InexactScore(std::shared_ptr<const Score> exact, double eps_max, Error error)
    : Score(exact->image_shape()), exact_(std::move(exact)), eps_max_(eps_max), error_(error) {}

Tensor InexactScore::do_score(const Tensor& x, double sigma, const Cursor& at) const {
  const auto exact = exact_->score(x, sigma, at);
  if (error_ == Error::fresh) return exact + eps_max_ * in_unit_ball(at, x);
  const auto n = static_cast<double>(element_count(image_shape()));
  return exact + eps_max_ / std::sqrt(n);
}

std::optional<Tensor> InexactScore::log_density(const Tensor& x, double sigma) const {
  return exact_->log_density(x, sigma);
}

std::optional<Tensor> InexactScore::draw(int64_t count, const Cursor& at) const { return exact_->draw(count, at); }

std::optional<double> InexactScore::error_bound() const {
  const auto inner = exact_->error_bound();
  return inner ? std::optional(*inner + eps_max_) : std::nullopt;
}

ClippedScore::ClippedScore(std::shared_ptr<const Score> score, double max_norm)
    : Score(score->image_shape()), score_(std::move(score)), max_norm_(max_norm) {}

Tensor ClippedScore::do_score(const Tensor& x, double sigma, const Cursor& at) const {
  const auto score = score_->score(x, sigma, at);
  return score * per_chain((max_norm_ / norm_per_chain(score)).clamp_max(1), score);
}

std::optional<Tensor> ClippedScore::log_density(const Tensor& x, double sigma) const {
  return score_->log_density(x, sigma);
}

}  // namespace penumbra
