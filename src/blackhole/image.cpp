#include "blackhole/image.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "blackhole/emission.h"
#include "core/random.h"

namespace penumbra::blackhole {
namespace {

/// Rays of each pixel along either side.
constexpr int finer = 3;
/// What an image's numbers are for: the third part of their counter.
enum Purpose : int64_t { scene_purpose, turbulence_purpose };

std::vector<double> numbers(const ImageOptions& options, int64_t index, Purpose purpose, int64_t count) {
  const Cursor at{options.seed, index, purpose};
  const auto like = at::empty({1, count}, at::kDouble);
  const auto drawn = purpose == scene_purpose ? uniform(at, Stream::truth, like) : normal(at, Stream::truth, like);
  return {drawn.data_ptr<double>(), drawn.data_ptr<double>() + count};
}

Turbulence turbulence_of(const Scene& scene, const ImageOptions& options, int64_t index) {
  const auto normals = numbers(options, index, turbulence_purpose, Turbulence::numbers_needed(scene.turbulence.arms));
  Turbulence turbulence(scene.turbulence, normals);
  for (int i = 0; i < scene.spots; ++i) turbulence.add(scene.spot[i]);
  return turbulence;
}

/// Means over each pixel's rays of the sky's light, turned, mirrored, scaled and moved as the scene says.
class Camera {
 public:
  Camera(const Scene& scene, int64_t size)
      : scene_(scene), size_(size), scale_(shadow_diameters(scene.spin, scene.inclination).second / scene.diameter) {}

  /// From the shadow's middle to the furthest corner, in r_g.
  double extent() const { return scale_ * (std::sqrt(0.5) + std::hypot(scene_.shift_x, scene_.shift_y)); }

  std::vector<float> expose(const Sky& sky, const std::vector<float>& light) const {
    std::vector<float> image(size_ * size_);
    const auto cosine = static_cast<float>(scale_ * std::cos(scene_.position_angle));
    const auto sine = static_cast<float>(scale_ * std::sin(scene_.position_angle));
    const float across = scene_.mirrored ? -1 : 1;
    const auto fine = static_cast<float>(finer * size_);
    for (int64_t row = 0; row < finer * size_; ++row)
      for (int64_t column = 0; column < finer * size_; ++column) {
        const float x = (static_cast<float>(column) + 0.5F) / fine - 0.5F - static_cast<float>(scene_.shift_x);
        const float y = 0.5F - (static_cast<float>(row) + 0.5F) / fine - static_cast<float>(scene_.shift_y);
        image[row / finer * size_ + column / finer] +=
            sky.interpolate(light, across * (cosine * x + sine * y), cosine * y - sine * x);
      }
    return image;
  }

 private:
  const Scene& scene_;
  int64_t size_;
  double scale_;  ///< r_g in the field's side
};

/// Along rows, then, called again, along columns: the image comes out transposed.
std::vector<float> blurred_transpose(const std::vector<float>& image, int64_t size, double sd) {
  const auto reach = std::min<int64_t>(static_cast<int64_t>(std::ceil(3.5 * sd)), size - 1);
  std::vector<float> weights(reach + 1), out(image.size());
  float total = 0;
  for (int64_t k = 0; k <= reach; ++k) {
    weights[k] = static_cast<float>(std::exp(-0.5 * static_cast<double>(k * k) / (sd * sd)));
    total += (k == 0 ? 1 : 2) * weights[k];
  }
  for (int64_t row = 0; row < size; ++row)
    for (int64_t column = 0; column < size; ++column) {
      float sum = 0;
      for (int64_t at = std::max<int64_t>(0, column - reach); at <= std::min(size - 1, column + reach); ++at)
        sum += weights[std::abs(at - column)] * image[row * size + at];
      out[column * size + row] = sum / total;
    }
  return out;
}

/// What is not physics of the hole: surrounding light, and a factor over the sky.
void add_extras(std::vector<float>& image, const Scene& scene, int64_t size) {
  const float brightest = *std::max_element(image.begin(), image.end());
  const auto& halo = scene.halo;
  for (int64_t i = 0; i < size * size; ++i) {
    const double side = static_cast<double>(size);
    const double x = (static_cast<double>(i % size) + 0.5) / side - 0.5 - scene.shift_x;
    const double y = 0.5 - (static_cast<double>(i / size) + 0.5) / side - scene.shift_y;
    if (scene.asymmetry > 0) {
      const double distance = std::hypot(x, y), inside = scene.diameter / 2;
      // Smooth through the middle, where there is no direction.
      const double share = distance / std::hypot(distance, inside / 2);
      image[i] *= static_cast<float>(1 + scene.asymmetry * share * std::cos(std::atan2(y, x) - scene.asymmetry_angle));
    }
    if (halo.brightness > 0) {
      const double along = std::cos(halo.angle) * x + std::sin(halo.angle) * y;
      const double beside = (std::cos(halo.angle) * y - std::sin(halo.angle) * x) / halo.flattening;
      image[i] += static_cast<float>(brightest * halo.brightness * std::exp(-std::hypot(along, beside) / halo.size));
    }
  }
}

}  // namespace

Scene scene_of(const ImageOptions& options, int64_t index) {
  return draw_scene(options.ranges, numbers(options, index, scene_purpose, scene_numbers));
}

std::vector<float> generate(const ImageOptions& options, int64_t index) {
  return render(scene_of(options, index), options, index);
}

std::vector<float> render(const Scene& scene, const ImageOptions& options, int64_t index) {
  const Camera camera(scene, options.size);
  const Sky sky(scene.spin, scene.inclination, camera.extent());
  auto image = camera.expose(sky, emission(scene, turbulence_of(scene, options, index), sky));
  add_extras(image, scene, options.size);
  const double sd = scene.blur * static_cast<double>(options.size);
  image = blurred_transpose(blurred_transpose(image, options.size, sd), options.size, sd);
  const float brightest = *std::max_element(image.begin(), image.end());
  const float factor = brightest > 0 ? static_cast<float>(scene.peak) / brightest : 0;
  for (auto& value : image) value = std::clamp(factor * value, 0.0F, 1.0F);
  return image;
}

}  // namespace penumbra::blackhole
