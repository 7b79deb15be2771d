#include "app/prior_option.h"

#include <CLI/CLI.hpp>

#include "core/error.h"
#include "core/yaml.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;

bool is_configuration(const fs::path& path) { return path.extension() == ".yaml" || path.extension() == ".yml"; }

/// The section `prior` of a configuration, or the file itself; for weights or a name, the section that names them.
Settings prior_section(const PriorOptions& options) {
  const auto compute = options.compute.value_or(options.usual_compute);
  if (is_configuration(options.prior)) {
    auto settings = Settings::from_file(options.prior);
    auto section = settings.is_section("prior") ? settings.section("prior") : settings;
    if (!options.arch.empty()) input_error("--arch: {} is a configuration; expected prior.arch there", options.prior);
    const bool is_network = section.text("kind") == "network";
    if (options.compute && !is_network)
      input_error("--compute: {} is no network (prior.kind: {}); expected no such option", options.prior,
                  section.text("kind"));
    if (is_network && (options.compute || !section.has("compute"))) section.assign("compute=" + compute);
    return section;
  }
  // A name has no dot and no slash; everything else is meant as a file.
  const bool is_name = !fs::exists(options.prior) && options.prior.find_first_of("./") == std::string::npos;
  std::string text = fmt::format("kind: network\ncompute: {}\n", compute);
  text += fmt::format("{}: {}\n", is_name ? "name" : "file", yaml::format_text(options.prior));
  if (!options.arch.empty()) text += fmt::format("arch: {}\n", yaml::format_text(options.arch.string()));
  return Settings::from_text(text, "--prior");
}

}  // namespace

void add_prior_options(CLI::App& command, PriorOptions& options, const std::string& usual_compute, bool required) {
  options.usual_compute = usual_compute;
  command
      .add_option("--prior", options.prior,
                  "prior: a YAML file with a prior section or that section alone, a file of weights, or a shipped "
                  "prior's name")
      ->required(required);
  command.add_option("--arch", options.arch, "JSON or YAML file of the architecture, where the weights do not say");
  command
      .add_option(
          "--compute", options.compute,
          fmt::format("type in which a network computes (default: what its YAML file says, else {})", usual_compute))
      ->check(CLI::IsMember({"auto", "float32", "bfloat16", "float16"}));
}

std::shared_ptr<const Score> load_prior(const PriorOptions& options, const Placement& placement) {
  auto section = prior_section(options);
  auto prior = make_prior(section, placement);
  section.finish();
  return prior;
}

std::string prior_kind(const PriorOptions& options) { return prior_section(options).text("kind"); }

}  // namespace penumbra::app
