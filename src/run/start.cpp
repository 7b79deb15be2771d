#include "run/start.h"

#include <ATen/ATen.h>

#include "core/error.h"
#include "io/npy.h"

namespace penumbra {

Start start_setting(Settings settings, const Shape& image_shape, int64_t chains) {
  Start start;
  const auto kind = settings.choice("kind", {"uniform", "normal", "prior", "file"}, "uniform");
  if (kind == "uniform") {
    start.low = settings.number("low", -1);
    start.high = settings.number("high", 1);
    if (!(start.low < start.high)) settings.fail("high", fmt::format("expected more than low = {:g}", start.low));
  } else if (kind == "normal") {
    start.kind = Start::Kind::normal;
    start.mean = settings.number("mean", 0);
    start.sd = settings.number("sd", 1, not_negative);
  } else if (kind == "prior") {
    start.kind = Start::Kind::prior;
  } else {
    start.kind = Start::Kind::file;
    const auto path = settings.file("file");
    start.image = io::read_npy(path);
    Shape one = image_shape, all = image_shape;
    all.insert(all.begin(), chains);
    if (start.image.numel() == element_count(one))
      start.image = start.image.reshape(one).unsqueeze(0);
    else if (start.image.sizes() != at::IntArrayRef(all))
      input_error("{}: expected one image of {} or one a chain, {}, found {}", path.string(), describe(one),
                  describe(all), describe(start.image.sizes()));
    if (!start.image.isfinite().all().item<bool>()) input_error("{}: expected finite numbers", path.string());
  }
  return start;
}

ChainState initial_state(const Start& start, const Score& prior, uint64_t seed, int64_t first_chain, int64_t chains,
                         const Placement& placement) {
  Shape shape = prior.image_shape();
  shape.insert(shape.begin(), chains);
  const auto like = at::empty(shape, at::TensorOptions().dtype(placement.precision).device(placement.device));
  const Cursor at{seed, first_chain, 0};
  Tensor x;
  switch (start.kind) {
    case Start::Kind::uniform:
      x = start.low + (start.high - start.low) * uniform(at, Stream::start, like);
      break;
    case Start::Kind::normal:
      x = start.mean + start.sd * normal(at, Stream::start, like);
      break;
    case Start::Kind::prior: {
      const auto draws = prior.draw(chains, at);
      if (!draws)
        input_error("sampler.start.kind: prior: this prior cannot be drawn from exactly; choose another start");
      x = place(*draws, placement);
      break;
    }
    case Start::Kind::file:
      x = start.image.size(0) == 1 ? start.image.expand(shape) : start.image;
      x = place(x, placement).clone();
      break;
  }
  return {x, 0, first_chain};
}

}  // namespace penumbra
