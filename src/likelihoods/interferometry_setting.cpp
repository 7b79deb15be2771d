/// `likelihood.kind: interferometry`: from visibilities and what the configuration says about them to the likelihood
/// (docs/interferometry-likelihood.md).
#include <array>
#include <cmath>

#include "core/error.h"
#include "likelihoods/interferometry.h"
#include "vlbi/load.h"

namespace penumbra {
namespace {

/// The mean pixel of an image whose brightest are about 1: a ring or a crescent that fills a part of the field.
constexpr double usual_mean = 0.05;

constexpr std::array<const char*, 6> all_terms{
    "closure_phase", "log_closure_amplitude", "amplitude", "visibility", "flux", "position"};

/// A term's section; `term: 2` is short for `term: {weight: 2}`, and a term that is not named has no weight.
double weight_of(Settings& terms, const std::string& term) {
  if (!terms.has(term)) return 0;
  if (terms.is_number(term)) return terms.number(term, not_negative);
  return terms.section(term).number("weight", 1, not_negative);
}

vlbi::ClosureOptions read_closures(Settings& settings) {
  vlbi::ClosureOptions closures;
  const auto rule = settings.choice("closures", {"complete", "ehtim-min", "ehtim-max"}, "complete");
  if (rule == "ehtim-min") closures.rule = vlbi::ClosureRule::ehtim_min;
  if (rule == "ehtim-max") closures.rule = vlbi::ClosureRule::ehtim_max;
  closures.debias = settings.flag("debias_closures", false);
  return closures;
}

void read_terms(Settings& settings, InterferometryOptions& options) {
  settings.set_default("terms", "{closure_phase: 1, log_closure_amplitude: 1}");
  auto terms = settings.section("terms");
  // Known also where they are not given: a misspelt one is told which there are.
  for (const auto* term : all_terms) terms.ignore(term);
  options.closure_phase = weight_of(terms, "closure_phase");
  options.log_closure_amplitude = weight_of(terms, "log_closure_amplitude");
  options.amplitude = weight_of(terms, "amplitude");
  options.visibility = weight_of(terms, "visibility");
  if (terms.is_section("closure_phase") &&
      terms.section("closure_phase").choice("law", {"cosine", "wrapped-square"}, "cosine") == "wrapped-square")
    options.phase_law = PhaseLaw::wrapped_square;
  if (terms.is_section("amplitude")) options.debias_amplitudes = terms.section("amplitude").flag("debias", true);
  if (options.closure_phase + options.log_closure_amplitude + options.amplitude + options.visibility > 0 ||
      terms.has("flux"))
    return;
  terms.finish();  // that the only term is misspelt says more than that none has a weight
  settings.fail("terms",
                "expected one of closure_phase, log_closure_amplitude, amplitude, visibility and flux, with a "
                "weight > 0, found none");
}

/// Where jy_per_unit is not given, an image of the usual mean has the total flux.
double read_unit(Settings& settings, const InterferometryOptions& options, double flux) {
  if (!(flux > 0) && !settings.has("jy_per_unit"))
    settings.fail("jy_per_unit", "expected a number > 0: visibilities of zero show no flux to derive it from");
  const auto pixels = static_cast<double>(options.grid.height * options.grid.width);
  return settings.number("jy_per_unit", flux / (usual_mean * pixels), positive);
}

/// The flux's error is `sd` in Jy, or the paper's `rho`, for which the flux is counted in units of x.
void read_brightness(Settings& settings, InterferometryOptions& options, double seen_flux) {
  options.black = settings.number("black", 0.0);
  auto terms = settings.section("terms");
  if (!terms.has("flux")) {
    options.jy_per_unit = read_unit(settings, options, seen_flux);
    return;
  }
  auto section = terms.section("flux");
  InterferometryOptions::Flux flux;
  flux.weight = section.number("weight", 1, not_negative);
  flux.value = seen_flux > 0 ? section.number("value", seen_flux, positive) : section.number("value", positive);
  options.jy_per_unit = read_unit(settings, options, flux.value);
  if (section.has("sd") && section.has("rho")) section.fail("rho", "expected one of sd and rho, found both");
  flux.sd = section.has("rho") ? options.jy_per_unit / std::sqrt(section.number("rho", positive))
                               : section.number("sd", positive);
  options.flux = flux;
}

void read_position(Settings& settings, InterferometryOptions& options, double seen_flux) {
  auto terms = settings.section("terms");
  if (!terms.has("position")) return;
  auto section = terms.section("position");
  InterferometryOptions::Position position;
  position.weight = section.number("weight", 1, positive);
  position.sd = section.number("sd", positive) * vlbi::microarcsecond;
  position.total = options.flux ? options.flux->value : seen_flux;
  if (!(position.total > 0)) terms.fail("position", "expected terms.flux: visibilities of zero show no flux");
  options.position = position;
}

ClosureErrors read_errors(Settings& settings, vlbi::ClosureRule rule) {
  if (settings.choice("errors", {"diagonal", "covariance"}, "diagonal") == "diagonal") return ClosureErrors::diagonal;
  if (rule == vlbi::ClosureRule::ehtim_max)
    settings.fail("errors", "covariance: expected independent closures, closures: complete or ehtim-min");
  return ClosureErrors::covariance;
}

std::unique_ptr<Likelihood> make(Settings& settings, const Shape& image_shape, const Placement& placement,
                                 Purpose purpose) {
  if (image_shape.size() != 3 || image_shape[0] != 1)
    settings.fail("kind",
                  fmt::format("interferometry: expected images of one channel, found {}", describe(image_shape)));
  auto observation =
      vlbi::load_observation(settings, purpose == Purpose::sample ? vlbi::Wanted::data : vlbi::Wanted::coverage);
  InterferometryOptions options;
  const double fov = settings.number("fov", positive);  // microarcseconds, of the image's width
  options.grid = {image_shape[1], image_shape[2], fov / static_cast<double>(image_shape[2]) * vlbi::microarcsecond};
  if (settings.choice("pulse", {"triangle", "delta"}, "triangle") == "delta") options.grid.pulse = vlbi::Pulse::delta;
  read_terms(settings, options);
  read_brightness(settings, options, visible_flux(observation));
  read_position(settings, options, visible_flux(observation));
  const auto rule = read_closures(settings);
  options.errors = read_errors(settings, rule.rule);
  if (purpose == Purpose::sample) {
    const auto closures = vlbi::form_closures(observation, rule);
    return std::make_unique<InterferometryLikelihood>(image_shape, std::move(observation), closures, options,
                                                      placement);
  }
  // A simulation needs no data, and so no closures.
  const InterferometryRecipe recipe{options, rule};
  options.closure_phase = options.log_closure_amplitude = 0;
  options.visibility = 1;
  return std::make_unique<InterferometryLikelihood>(image_shape, std::move(observation), vlbi::Closures(), options,
                                                    placement, recipe);
}

}  // namespace

extern const LikelihoodEntry interferometry{
    "interferometry", "a radio interferometer's closure phases, closure amplitudes, amplitudes, visibilities, flux",
    make};

}  // namespace penumbra
