#include "run/statistics.h"

namespace penumbra {
namespace {

using State = std::map<std::string, Tensor>;

void add_prefixed(State& to, const std::string& prefix, const State& from) {
  for (const auto& [name, tensor] : from) to[prefix + name] = tensor;
}

State without_prefix(const State& from, const std::string& prefix) {
  State part;
  for (const auto& [name, tensor] : from)
    if (name.rfind(prefix, 0) == 0) part[name.substr(prefix.size())] = tensor;
  return part;
}

}  // namespace

State Statistics::state() const {
  State state;
  add_prefixed(state, "moments.", moments_.state());
  add_prefixed(state, "history.", history_.state());
  return state;
}

void Statistics::restore(const State& state) {
  moments_.restore(without_prefix(state, "moments."));
  history_.restore(without_prefix(state, "history."));
}

}  // namespace penumbra
