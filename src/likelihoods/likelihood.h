/// The likelihood as an energy: g(x) = -log l(y|x) up to a constant, and its gradient.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "core/settings.h"
#include "core/tensor.h"

namespace penumbra {

/// How well an image explains one kind of data: chi^2 = (1/M) sum r^2 / beta^2, which is 1 in expectation.
struct Misfit {
  std::string term;
  Tensor chi2;             ///< [chains]
  int64_t data_count = 0;  ///< M, real numbers
};

/// What became of a file's data on their way here.
struct DataFacts {
  std::vector<std::pair<std::string, int64_t>> counts;  ///< for summary.json, in the words of `penumbra info`
  std::vector<std::string> notes;                       ///< sentences for whoever looks at the run
};

class Likelihood {
 public:
  explicit Likelihood(Shape image_shape) : image_shape_(std::move(image_shape)) {}
  virtual ~Likelihood() = default;

  /// g(x), one number a chain.
  Tensor value(const Tensor& x) const;

  /// grad g(x), shaped like x.
  Tensor grad(const Tensor& x) const;

  /// Data fit by term; empty where there are no data.
  virtual std::vector<Misfit> misfit(const Tensor& x) const = 0;

  /// The same data with more noise, for annealing: of the stiffest datum alpha times the variance. Nothing where all
  /// data have the same noise, for then it is g / alpha. `alpha` is 0-dimensional, float64, of the host or in a
  /// device's memory, which is not waited for.
  virtual std::shared_ptr<const Likelihood> noisier(const Tensor& /*alpha*/) const { return nullptr; }

  /// False where there is nothing to explain, so that the posterior is the prior.
  virtual bool has_data() const { return true; }

  /// Empty where a file is taken as it is.
  virtual DataFacts data_facts() const { return {}; }

  /// L_g, the Lipschitz constant of grad g (Assumption 1), where a formula or a convergent iteration gives it.
  virtual std::optional<double> lipschitz() const { return std::nullopt; }

  /// The largest curvature of g at images that explain the data: L_g where there is one. Steps are derived from it.
  virtual std::optional<double> typical_curvature() const { return lipschitz(); }

  /// The curvature along smooth images, which may be far less: a random matrix magnifies what no image has.
  virtual std::optional<double> smooth_curvature() const { return typical_curvature(); }

  /// beta, where all of the data have the same noise.
  virtual std::optional<double> noise_sd() const { return std::nullopt; }

  /// Draws a measurement of x with this likelihood's noise.
  virtual Tensor simulate(const Tensor& x, const Cursor& at) const = 0;

  const Shape& image_shape() const { return image_shape_; }

 private:
  virtual Tensor do_value(const Tensor& x) const = 0;
  virtual Tensor do_grad(const Tensor& x) const = 0;

  Shape image_shape_;
};

/// What a likelihood is made for: sampling needs data, simulating a measurement needs none.
enum class Purpose { sample, simulate };

/// Registers a likelihood that is not "forward model + Gaussian noise"; those are found by the model's name.
struct LikelihoodEntry {
  std::string name;
  std::string summary;
  std::unique_ptr<Likelihood> (*make)(Settings& settings, const Shape& image_shape, const Placement& placement,
                                      Purpose purpose);
};

const std::vector<const LikelihoodEntry*>& likelihood_entries();

/// The likelihood of a configuration's `likelihood` section.
std::shared_ptr<const Likelihood> make_likelihood(Settings settings, const Shape& image_shape,
                                                  const Placement& placement, Purpose purpose = Purpose::sample);

}  // namespace penumbra
