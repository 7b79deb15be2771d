#include "training/task.h"

#include <ATen/ATen.h>

namespace penumbra::training {

Tensor training_noise(const Tensor& like, const Cursor& at) {
  return like.is_cuda() ? at::randn_like(like) : normal(at, Stream::training_noise, like);
}

}  // namespace penumbra::training
