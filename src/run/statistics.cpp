#include "run/statistics.h"

#include <ATen/ATen.h>

namespace penumbra {
namespace {

using State = std::map<std::string, Tensor>;

constexpr auto means = "moments.chain_means";
constexpr auto within = "moments.within";
constexpr auto draws = "history.draws";

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

State Statistics::state(const Team& team) const {
  State state;
  add_prefixed(state, "moments.", moments_.state());
  add_prefixed(state, "history.", history_.state());
  // Counts are the same in all processes; what a chain has of its own lies along one dimension.
  if (state.count(means)) state[means] = team.gather(state[means]);
  if (state.count(within)) team.sum(state[within]);
  if (state.count(draws)) state[draws] = team.gather(state[draws].transpose(0, 1)).transpose(0, 1);
  return state;
}

void Statistics::restore(State state, int64_t first, int64_t count) {
  if (state.count(means)) state[means] = state[means].narrow(0, first, count);
  // A sum over all chains: the process with the first chain goes on with it, the others begin at nothing.
  if (state.count(within) && first > 0) state[within] = at::zeros_like(state[within]);
  if (state.count(draws)) state[draws] = state[draws].narrow(1, first, count);
  moments_.restore(without_prefix(state, "moments."));
  history_.restore(without_prefix(state, "history."));
}

}  // namespace penumbra
