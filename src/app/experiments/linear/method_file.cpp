#include "app/experiments/linear/method_file.h"

#include "core/error.h"
#include "core/nearest.h"
#include "core/yaml.h"
#include "io/file.h"

namespace penumbra::app::linear {

std::vector<Method> read_methods(const std::filesystem::path& path) {
  const auto name = path.string();
  const auto file = yaml::parse(io::read_file(path), name);
  if (file->kind != yaml::Kind::map || file->entries.empty())
    input_error("{}: expected lines of NAME: {{kind: ..., ...}}, found {}", name, yaml::describe(*file));
  std::vector<Method> methods;
  for (const auto& [key, sampler] : file->entries) {
    const auto* kind = sampler->kind == yaml::Kind::map ? sampler->find("kind") : nullptr;
    if (!kind)
      input_error("{}:{}: {}: expected the sampler section of a configuration with its kind, found {}", name,
                  sampler->line, excerpt(key), yaml::describe(*sampler));
    if (key.find('/') != key.npos)
      input_error("{}:{}: {}: expected a name without /, for it becomes a file's", name, sampler->line, excerpt(key));
    const auto& word = kind->value->text;
    methods.push_back({key, yaml::format_flow(*sampler), word == "pnp" || word == "red"});
  }
  return methods;
}

}  // namespace penumbra::app::linear
