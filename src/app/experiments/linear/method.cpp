#include "app/experiments/linear/method.h"

#include <fmt/format.h>

#include <map>

namespace penumbra::app::linear {
namespace {

/// The numbers behind a task's methods; docs/experiments.md says on which images they were chosen. What is not here is
/// what `penumbra sample` derives by itself.
struct Tuning {
  int64_t steps;        ///< of every Langevin method
  double dps_zeta;      ///< of DPS in 250 steps
  double tv_weight;     ///< lambda of total variation
  double pnp_strength;  ///< share of the denoiser's correction that PnP takes
  double red_weight;    ///< tau of RED
};

Tuning tuning(const std::string& task) {
  static const std::map<std::string, Tuning> table{
      {"cs-0.1", {250, 5, 50, 0.05, 10000}},
      {"cs-0.3", {250, 2.8, 50, 0.05, 10000}},
      {"mri-8x", {250, 5, 20, 0.05, 300}},
      {"mri-4x", {250, 4, 15, 0.03, 250}},
  };
  return table.at(task);
}

/// The noise that the denoiser of PnP and RED is asked to remove: DnCNN's own, 25/255 of the pixels' range.
constexpr double denoiser_level = 2 * 25.0 / 255;

int64_t langevin_steps(const Problem& problem, bool quick, int64_t steps) {
  return steps > 0 ? steps : quick ? 300 : tuning(problem.task.key).steps;
}

Method langevin(const std::string& name, const std::string& kind, int64_t steps) {
  return {name, fmt::format("{{kind: {}, steps: {}}}", kind, steps)};
}

}  // namespace

std::vector<Method> methods(const Problem& problem, bool quick, int64_t steps) {
  const auto tuned = tuning(problem.task.key);
  const auto length = langevin_steps(problem, quick, steps);
  const auto at_most = [&](int64_t most) { return std::min(length, most); };
  return {
      {"TV", fmt::format("{{kind: tv, steps: {}, lambda: {}}}", at_most(40), tuned.tv_weight)},
      {"PnP",
       fmt::format("{{kind: pnp, steps: {}, sigma: {:.17g}, strength: {}}}", at_most(500), denoiser_level,
                   tuned.pnp_strength),
       true},
      {"RED",
       fmt::format("{{kind: red, steps: {}, sigma: {:.17g}, tau: {}}}", at_most(500), denoiser_level, tuned.red_weight),
       true},
      {"DPS", fmt::format("{{kind: dps, steps: {}, zeta: {}}}", at_most(250), tuned.dps_zeta)},
      langevin("PnP-ULA-Ori", "pnp-ula, variant: ori", length),
      langevin("PMC-RED", "pmc-red", length),
      langevin("PMC-PnP", "pmc-pnp", length),
      langevin("APMC-RED", "apmc-red", length),
      langevin("APMC-PnP", "apmc-pnp", length),
  };
}

std::vector<Method> pnp_ula_methods(const Problem& problem, bool quick, int64_t steps) {
  const auto length = langevin_steps(problem, quick, steps);
  return {langevin("PnP-ULA-NP", "pnp-ula, variant: np", length),
          langevin("PnP-ULA-Cus", "pnp-ula, variant: cus", length),
          langevin("PnP-ULA-Ori", "pnp-ula, variant: ori", length), langevin("APMC-RED", "apmc-red", length)};
}

std::vector<Method> varnet_methods(const Problem& problem, bool quick, int64_t steps) {
  const auto network = [&](const std::string& trained_for) -> Method {
    return {"VarNet-" + trained_for,
            fmt::format("{{kind: varnet, name: varnet-{}{}, steps: 1}}", trained_for, quick ? "-64" : "")};
  };
  std::vector<Method> chosen{network("4x"), network("8x")};
  for (auto& method : methods(problem, quick, steps))
    if (method.name == "APMC-RED" || method.name == "APMC-PnP") chosen.push_back(std::move(method));
  return chosen;
}

std::optional<PaperRow> paper_row(const std::string& method, const std::string& task) {
  using Row = std::map<std::string, PaperRow>;
  const auto none = std::nullopt;
  // Tables 3 and 4, and 5 and 6 for PnP-ULA-Cus; PnP-ULA-NP is PMC-RED. 256x256, 30 images, 50 chains.
  static const std::map<std::string, Row> tables{
      {"PnP",
       {{"cs-0.1", {24.90, none, none, none}},
        {"cs-0.3", {32.36, none, none, none}},
        {"mri-8x", {28.98, none, none, none}},
        {"mri-4x", {33.81, none, none, none}}}},
      {"RED",
       {{"cs-0.1", {24.74, none, none, none}},
        {"cs-0.3", {32.18, none, none, none}},
        {"mri-8x", {28.96, none, none, none}},
        {"mri-4x", {33.39, none, none, none}}}},
      {"DPS",
       {{"cs-0.1", {24.37, -1.613, 0.0433, 0.0590}},
        {"cs-0.3", {31.45, -2.366, 0.0198, 0.0273}},
        {"mri-8x", {31.71, -2.536, 0.0172, 0.0224}},
        {"mri-4x", {34.88, -2.730, 0.0131, 0.0169}}}},
      {"PnP-ULA-Ori",
       {{"cs-0.1", {8.56, 1.414, 0.3205, 0.1886}},
        {"cs-0.3", {33.58, -2.474, 0.0161, 0.0249}},
        {"mri-8x", {32.03, -2.345, 0.0166, 0.0405}},
        {"mri-4x", {34.57, -2.550, 0.0135, 0.0352}}}},
      {"PnP-ULA-Cus",
       {{"cs-0.1", {8.73, 1.396, 0.3131, 0.1873}},
        {"cs-0.3", {31.00, -2.176, 0.0268, 0.0419}},
        {"mri-8x", {30.97, -2.270, 0.0183, 0.0545}},
        {"mri-4x", {34.24, -2.529, 0.0138, 0.0396}}}},
      {"PMC-RED",
       {{"cs-0.1", {8.75, 1.366, 0.3122, 0.1873}},
        {"cs-0.3", {18.18, -0.622, 0.1006, 0.1083}},
        {"mri-8x", {27.51, -2.056, 0.0290, 0.0407}},
        {"mri-4x", {35.98, -2.883, 0.0116, 0.0166}}}},
      {"PMC-PnP",
       {{"cs-0.1", {8.75, 1.366, 0.3121, 0.1874}},
        {"cs-0.3", {18.18, -0.620, 0.1007, 0.1085}},
        {"mri-8x", {27.52, -2.057, 0.0289, 0.0406}},
        {"mri-4x", {35.99, -2.885, 0.0116, 0.0166}}}},
      {"APMC-RED",
       {{"cs-0.1", {28.37, -2.005, 0.0278, 0.0348}},
        {"cs-0.3", {34.52, -2.667, 0.0140, 0.0179}},
        {"mri-8x", {32.67, -2.689, 0.0152, 0.0207}},
        {"mri-4x", {36.02, -2.884, 0.0115, 0.0165}}}},
      {"APMC-PnP",
       {{"cs-0.1", {28.46, -2.023, 0.0275, 0.0346}},
        {"cs-0.3", {34.55, -2.674, 0.0140, 0.0177}},
        {"mri-8x", {32.71, -2.690, 0.0152, 0.0206}},
        {"mri-4x", {36.03, -2.885, 0.0115, 0.0165}}}},
      // The supplement's own table; its APMC differs from Table 3 by 0.01 dB at most.
      {"VarNet-4x", {{"mri-8x", {28.51, none, none, none}}, {"mri-4x", {36.00, none, none, none}}}},
      {"VarNet-8x", {{"mri-8x", {32.82, none, none, none}}, {"mri-4x", {35.01, none, none, none}}}},
  };
  const auto rows = tables.find(method == "PnP-ULA-NP" ? "PMC-RED" : method);
  if (rows == tables.end()) return none;
  const auto found = rows->second.find(task);
  return found == rows->second.end() ? none : std::optional(found->second);
}

}  // namespace penumbra::app::linear
