/// Pictures that a test can afford: 8x8, waves of one frequency in each direction and of random phase.
#pragma once

#include <ATen/ATen.h>

#include "core/random.h"
#include "training/images.h"

namespace penumbra::test {

inline training::ImageSet waves(int64_t train, int64_t validation) {
  const auto draw = [](int64_t count, int64_t k) {
    const auto phase = 6 * uniform({2, 0, k}, Stream::probe, at::empty({count, 2, 1}, at::kDouble));
    const auto place = at::arange(8, at::kDouble).reshape({1, 8});
    const auto x =
        (phase.select(1, 0) + place / 2).sin().unsqueeze(1) * (phase.select(1, 1) + place / 3).sin().unsqueeze(2);
    return (127.5 + 127 * x).to(at::kByte).unsqueeze(1);
  };
  training::ImageSet set;
  set.train = draw(train, 0);
  set.validation = draw(validation, 1);
  return set;
}

}  // namespace penumbra::test
