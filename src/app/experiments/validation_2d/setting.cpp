#include "app/experiments/validation_2d/setting.h"

#include <ATen/ATen.h>

#include "core/error.h"

namespace penumbra::app::validation_2d {
namespace {

/// A_r = 0.4 G_r / |G_r|_2 with G_r standard normal, row after row: |A|^2 must stay well below 1.25, or gamma = 1.6
/// would diverge in every mode.
constexpr std::array<std::array<double, 4>, 20> matrices{{
    {0.3066826633481992, 0.12505273913519455, -0.25578506934973366, 0.11773889116890093},
    {-0.1846720016491498, 0.12866192221475478, -0.04272746398594027, -0.3781270917388106},
    {0.008241532258698623, -0.19182541826426103, 0.35242579043645794, -0.16240637662420032},
    {0.0014367793960839979, -0.08647037328775133, 0.2522345173376632, 0.30330141903903474},
    {-0.38254848045298057, 0.025406478743538477, 0.11681941703976796, 0.09364196277174099},
    {-0.04567033574970047, -0.05133469312940454, 0.339521015236388, -0.21115215935709325},
    {-0.11684927763656035, 0.37218494709473326, 0.14801144188671875, -0.04130358908205546},
    {0.19620105331692825, 0.002666071855707615, -0.2748572853788141, 0.2471823296435874},
    {-0.2616995104955098, -0.07069996603537601, 0.28231201884388113, -0.19681311988499164},
    {-0.03568609071759849, -0.009085962371217367, 0.378981757309905, -0.12411337928918392},
    {-0.0878571108157552, -0.3896957053118306, 0.1753728877674269, -0.02069937034598442},
    {0.023143416119121945, 0.39305906960071446, -0.164593466213467, -0.05494295737010401},
    {0.13675968037609015, 0.026484384988652895, -0.3250725332298541, 0.20868247338846602},
    {0.2271364683794353, 0.03683877696865423, -0.03638156247052826, -0.39224637056675365},
    {-0.05030322076375229, 0.1127119023445613, -0.3085612394587725, -0.25226641404473493},
    {0.14295747605205028, -0.06030688782533277, -0.33200110739042804, -0.20150085100490286},
    {0.188260550779761, 0.32941570411438553, 0.05694212265643901, -0.1700257692559904},
    {0.23586054996737213, 0.07292001183677191, -0.3136272974340854, 0.14517380977227326},
    {-0.37190959210385954, 0.049134795153071974, -0.0686080032513502, 0.27582592674560763},
    {-0.11153953283139013, 0.17474733628560082, -0.3033203183690115, 0.17850537905964373},
}};

const std::vector<double> data{0.25, -0.30};
constexpr double mode_offset = 18, prior_variance = 9;

std::shared_ptr<const GaussianMixture> make_prior() {
  const auto ones = at::ones({2}, at::kDouble);
  const auto covariance = Covariance::diagonal(prior_variance * ones);
  return std::make_shared<GaussianMixture>(
      Shape{1, 1, 2},
      std::vector<Component>{{0.5, -mode_offset * ones, covariance}, {0.5, mode_offset * ones, covariance}});
}

theory::Mixture plain(const GaussianMixture& mixture) {
  std::vector<double> weights;
  std::vector<Tensor> means, covariances;
  for (const auto& [weight, mean, covariance] : mixture.components()) {
    weights.push_back(weight);
    means.push_back(mean);
    covariances.push_back(covariance->dense());
  }
  return {at::tensor(weights, at::kDouble), at::stack(means), at::stack(covariances)};
}

}  // namespace

Problem make_problem(int64_t posteriors) {
  if (posteriors < 1 || posteriors > static_cast<int64_t>(matrices.size()))
    input_error("validation-2d: expected 1 to {} posteriors, found {}", matrices.size(), posteriors);
  Problem problem;
  problem.prior = make_prior();
  problem.A = at::empty({posteriors, 2, 2}, at::kDouble);
  std::copy_n(matrices.front().data(), 4 * posteriors, problem.A.data_ptr<double>());
  problem.y = at::tensor(data, at::kDouble);
  for (const auto& A : problem.A.unbind(0))
    problem.posteriors.push_back(plain(*condition(*problem.prior, A, problem.y, problem.beta).posterior));
  return problem;
}

std::shared_ptr<const Schedule> schedule(const Configuration& configuration) {
  return std::make_shared<GeometricSchedule>(
      GeometricSchedule::Options{.sigma_0 = 10, .sigma_min = configuration.sigma_min, .xi = 0.975, .alpha_0 = 10});
}

std::string algorithm_name(Discretization discretization) {
  return discretization == Discretization::pnp ? "APMC-PnP" : "APMC-RED";
}

std::string name(Sweep sweep) {
  return sweep == Sweep::gamma ? "gamma" : sweep == Sweep::sigma_min ? "sigma_min" : "eps_max";
}

Configuration Column::configuration(Discretization discretization) const {
  Configuration configuration{.discretization = discretization};
  switch (sweep) {
    case Sweep::gamma:
      configuration.gamma = value;
      break;
    case Sweep::sigma_min:
      configuration.sigma_min = value;
      break;
    case Sweep::eps_max:
      configuration.eps_max = value;
      break;
  }
  return configuration;
}

const std::array<Column, 9>& table_2() {
  static const std::array<Column, 9> columns{{
      {Sweep::gamma, 1.6, {0.9455, 3.1782}, {0.9247, 3.2423}},
      {Sweep::gamma, 0.8, {0.0985, 0.6336}, {0.0818, 0.6186}},
      {Sweep::gamma, 0.4, {0.0260, 0.5690}, {0.0218, 0.5632}},
      {Sweep::sigma_min, 0.4, {0.2658, 1.0616}, {0.2723, 1.0792}},
      {Sweep::sigma_min, 0.2, {0.1148, 0.7429}, {0.1191, 0.7541}},
      {Sweep::sigma_min, 0.1, {0.0565, 0.6259}, {0.0577, 0.6315}},
      {Sweep::eps_max, 5.0, {0.3018, 1.1187}, {0.2923, 1.1097}},
      {Sweep::eps_max, 2.5, {0.0260, 0.5690}, {0.0218, 0.5632}},
      {Sweep::eps_max, 1.25, {0.0076, 0.5651}, {0.0051, 0.5614}},
  }};
  return columns;
}

}  // namespace penumbra::app::validation_2d
