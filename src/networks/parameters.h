/// How a network asks for its parameters: by name and shape, from whoever has them (a file, the trainer, a random
/// start).
///
/// A network is built by one function that takes a ParameterSource. Running it with a source that only writes down what
/// is asked for gives the list of parameters; running it with one that looks names up binds a checkpoint.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace penumbra {

/// How a parameter starts before training.
enum class Initial {
  fan_in,  ///< uniform in +-1/sqrt(fan_in)
  zero,
  one,
  normal,  ///< standard normal times `scale`
};

struct ParameterSpec {
  std::string name;
  Shape shape;
  Initial initial = Initial::zero;
  int64_t fan_in = 1;
  double scale = 1;
  bool trained = true;
  bool wide = false;  ///< kept and applied in float32 when the network computes in a shorter type
};

using ParameterSource = std::function<Tensor(const ParameterSpec&)>;

/// What a network asks for, in the order in which it asks.
std::vector<ParameterSpec> list_parameters(const std::function<void(const ParameterSource&)>& build);

int64_t parameter_count(const std::vector<ParameterSpec>& specs);

/// Start values in float32 on the CPU; a function of (seed, position in the list) alone.
std::map<std::string, Tensor> initial_parameters(const std::vector<ParameterSpec>& specs, uint64_t seed);

/// Throws InputError, with `file` in the message, unless the tensors have exactly the names and shapes of the list.
void require_parameters(const std::map<std::string, Tensor>& tensors, const std::vector<ParameterSpec>& specs,
                        const std::string& file);

}  // namespace penumbra
