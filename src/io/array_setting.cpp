#include "io/array_setting.h"

#include <ATen/ATen.h>

#include "core/error.h"
#include "io/npy.h"

namespace penumbra::io {

Tensor array_setting(Settings& settings, const std::string& key, const Shape& shape) {
  const auto options = at::TensorOptions().dtype(at::kDouble);
  if (settings.is_number(key)) return at::full(shape, settings.number(key), options);
  if (settings.is_list(key)) {
    const auto numbers = settings.numbers(key);
    if (static_cast<int64_t>(numbers.size()) != element_count(shape))
      settings.fail(key, fmt::format("expected {} numbers for {}, found {}", element_count(shape), describe(shape),
                                     numbers.size()));
    return at::tensor(numbers, options).reshape(shape);
  }
  const auto path = settings.file(key);
  const auto array = read_npy(path);
  if (array.numel() != element_count(shape) || array.is_complex())
    input_error("{}: expected {} real numbers for {} ({}), found {}", path.string(), element_count(shape), key,
                describe(shape), describe(array.sizes()));
  if (!array.isfinite().all().item<bool>()) input_error("{}: expected finite numbers", path.string());
  return array.to(at::kDouble).reshape(shape);
}

Shape image_shape_setting(Settings& settings) {
  Shape shape;
  for (const double extent : settings.numbers("image_shape")) {
    if (!(extent >= 1 && extent <= 65536) || extent != std::floor(extent))
      settings.fail("image_shape", fmt::format("expected whole numbers from 1 to 65536, found {}", extent));
    shape.push_back(static_cast<int64_t>(extent));
  }
  if (shape.size() != 3)
    settings.fail("image_shape", fmt::format("expected [channels, height, width], found {} numbers", shape.size()));
  return shape;
}

}  // namespace penumbra::io
