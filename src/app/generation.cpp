#include "app/generation.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "core/named.h"
#include "run/start.h"

namespace penumbra::app {
namespace {

constexpr double divergence_limit = RunPlan{}.divergence_limit;

/// One batch: the images numbered from `first`; none where they diverged. `done` steps of it are reported as they go.
class Method {
 public:
  virtual ~Method() = default;
  virtual std::vector<double> sigmas() const = 0;
  virtual std::optional<Tensor> draw(int64_t first, int64_t count, const std::function<void(int64_t)>& done) const = 0;
};

class HeunMethod final : public Method {
 public:
  HeunMethod(std::shared_ptr<const Score> prior, const Generation& how, const Placement& placement)
      : prior_(std::move(prior)),
        how_(how),
        placement_(placement),
        sigmas_(rho_grid(how.steps, how.sigma_max, how.sigma_min, how.rho)) {}

  std::vector<double> sigmas() const override { return sigmas_; }
  std::optional<Tensor> draw(int64_t first, int64_t count, const std::function<void(int64_t)>& done) const override {
    const Cursor at{how_.seed, first, 0};
    const auto x = heun(*prior_, heun_start(*prior_, count, sigmas_.front(), at, placement_),
                        {.sigmas = sigmas_, .churn = how_.churn, .after_step = done}, at);
    // A NaN compares false with everything.
    return x.abs().max().item<double>() <= divergence_limit ? std::optional(x) : std::nullopt;
  }

 private:
  std::shared_ptr<const Score> prior_;
  Generation how_;
  Placement placement_;
  std::vector<double> sigmas_;
};

class LangevinMethod final : public Method {
 public:
  LangevinMethod(const std::shared_ptr<const Score>& prior, const Generation& how, const Placement& placement)
      : how_(how), placement_(placement) {
    auto none = Settings::from_text("kind: none", "generate");
    posterior_ = {make_likelihood(none, prior->image_shape(), placement), prior};
    auto settings =
        Settings::from_text(fmt::format("{{sigma_0: {}, sigma_min: {}}}", how.sigma_max, how.sigma_min), "generate");
    sampler_ = find_named(sampler_entries(), "annealed-langevin")->make(settings, {posterior_, how.seed, how.steps});
  }

  std::vector<double> sigmas() const override {
    std::vector<double> levels;
    for (int64_t k = 0; k < how_.steps; ++k)
      if (const double sigma = sampler_->annealing(k).sigma; levels.empty() || sigma != levels.back())
        levels.push_back(sigma);
    return levels;
  }
  std::optional<Tensor> draw(int64_t first, int64_t count, const std::function<void(int64_t)>& done) const override {
    RunPlan plan;
    plan.steps = how_.steps;
    plan.chains = count;
    plan.first_chain = first;
    plan.record_from = how_.steps - 1;
    plan.trace_every = std::max<int64_t>(1, how_.steps / 50);
    Start start;
    start.kind = Start::Kind::normal;
    start.sd = how_.sigma_max;
    ChainRun run(plan, posterior_, *sampler_,
                 initial_state(start, *posterior_.prior, how_.seed, first, count, placement_));
    run.after_step = [&](const ChainRun& now) { done(now.state().k); };
    if (run.run() == Outcome::diverged) return std::nullopt;
    // One last denoising removes the noise of the smallest level.
    return posterior_.prior->denoise(run.state().x, how_.sigma_min);
  }

 private:
  Generation how_;
  Placement placement_;
  Posterior posterior_;
  std::unique_ptr<Sampler> sampler_;
};

std::unique_ptr<Method> make_method(const std::shared_ptr<const Score>& prior, const Generation& how,
                                    const Placement& placement) {
  if (how.method == Generation::Method::heun) return std::make_unique<HeunMethod>(prior, how, placement);
  return std::make_unique<LangevinMethod>(prior, how, placement);
}

}  // namespace

Generated generate_images(const std::shared_ptr<const Score>& prior, const Generation& how,
                          const Placement& placement) {
  const auto method = make_method(prior, how, placement);
  Shape shape = prior->image_shape();
  shape.insert(shape.begin(), how.count);
  Generated generated{at::empty(shape, at::kFloat), method->sigmas()};
  Progress progress;
  const auto batches = (how.count + how.batch - 1) / how.batch;
  for (int64_t b = 0; b < batches; ++b) {
    const auto first = b * how.batch;
    const auto part = method->draw(first, std::min(how.batch, how.count - first),
                                   [&](int64_t k) { progress.show(b * how.steps + k, batches * how.steps); });
    if (!part) {
      generated.diverged = true;
      return generated;
    }
    generated.images.narrow(0, first, part->size(0)).copy_(*part);
  }
  return generated;
}

}  // namespace penumbra::app
