/// All trained parameters of a network as one flat tensor, so that the optimiser, the moving average, the sum over
/// processes and a checkpoint are each one operation.
///
/// The flat values are float32. A network that computes in a shorter type sees copies of the large ones in that type;
/// the small ones (normalisation, embedding) it uses as they are. Between the parameters are gaps, zero for ever.
#pragma once

#include "networks/parameters.h"

namespace penumbra::training {

class TrainedParameters {
 public:
  TrainedParameters(std::vector<ParameterSpec> specs, const std::map<std::string, Tensor>& start, at::Device device,
                    at::ScalarType compute, at::MemoryFormat format);

  /// What the network is built from: leaves of the graph that gradients flow to.
  ParameterSource source() const;

  /// Float32, to be changed in place; then `refresh`.
  Tensor& values() { return values_; }
  const Tensor& values() const { return values_; }
  /// Copies the values to what the network sees.
  void refresh();

  /// Adds what backward() left to `sum`, flat and float32, and clears it.
  void collect_gradient(Tensor& sum);

  /// A flat tensor like `values` as named tensors in plain memory order, with those that are not trained.
  std::map<std::string, Tensor> named(const Tensor& flat) const;

  /// The other way: flat from named tensors.
  Tensor flat(const std::map<std::string, Tensor>& tensors) const;

 private:
  struct Entry {
    ParameterSpec spec;
    int64_t offset = 0;
    bool narrow = false;
  };
  /// The entry's part of a flat tensor that begins at `origin`, in the parameter's shape and memory format.
  Tensor part(const Tensor& flat, const Entry& entry, int64_t origin) const;

  std::vector<Entry> entries_;
  std::map<std::string, Tensor> fixed_, leaves_;
  at::MemoryFormat format_;
  int64_t wide_count_ = 0, narrow_count_ = 0;
  Tensor values_, narrow_;
  Tensor wide_gradient_, narrow_gradient_;
};

}  // namespace penumbra::training
