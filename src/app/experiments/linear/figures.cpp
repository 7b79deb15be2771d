#include <ATen/ATen.h>

#include "app/experiments/linear/comparison.h"

namespace penumbra::app::linear {
namespace {

constexpr int64_t tile = 128;  ///< pixels a side of a picture in a figure, where the image is at least as large
constexpr int64_t gap = 4;

using report::Colormap;
using report::Range;

/// [H, W] as [3, t, t] bytes; larger images are averaged down.
Tensor picture(const Tensor& image, Range range, Colormap map) {
  const auto factor = std::max<int64_t>(1, image.size(0) / tile);
  const auto small =
      at::avg_pool2d(image.to(at::kDouble).reshape({1, 1, image.size(0), image.size(1)}), {factor, factor})[0][0];
  return report::picture_bytes(small, range, map);
}

/// Enlarged by whole pixels to the same size as `picture`.
Tensor enlarged(const Tensor& part, int64_t side, Range range, Colormap map) {
  const auto factor = side / part.size(0);
  return report::picture_bytes(part.to(at::kDouble), range, map)
      .repeat_interleave(factor, 1)
      .repeat_interleave(factor, 2);
}

/// Side by side, or one above the other, with white between.
Tensor joined(const std::vector<Tensor>& pictures, int64_t dimension) {
  std::vector<Tensor> parts;
  for (const auto& next : pictures) {
    if (!parts.empty()) {
      auto sizes = next.sizes().vec();
      sizes[static_cast<size_t>(dimension)] = gap;
      parts.push_back(at::full(sizes, 255, next.options()));
    }
    parts.push_back(next);
  }
  return at::cat(parts, dimension);
}

struct Window {
  int64_t row, column, side;
};

/// Where the truth has most contrast: a quarter of the side, on a grid of eighths.
Window busiest(const Tensor& truth) {
  const auto side = truth.size(0) / 4, step = truth.size(0) / 8;
  Window found{0, 0, side};
  double most = -1;
  for (int64_t row = 0; row + side <= truth.size(0); row += step)
    for (int64_t column = 0; column + side <= truth.size(1); column += step) {
      const auto contrast = truth.narrow(0, row, side).narrow(1, column, side).std().item<double>();
      if (contrast > most) most = contrast, found = {row, column, side};
    }
  return found;
}

Tensor cut(const Tensor& image, const Window& window) {
  return image.narrow(0, window.row, window.side).narrow(1, window.column, window.side);
}

Tensor of(const Tensor& images, int64_t image) { return images[image][0].to(at::kDouble); }

}  // namespace

Tensor reconstruction_figure(const TaskResults& task, int64_t image) {
  const auto truth = of(task.problem.truths, image);
  std::vector<Tensor> shown{truth, of(task.problem.adjoint(), image)};
  for (const auto& r : task.reconstructions) shown.push_back(of(r.mean, image));
  const auto window = busiest(truth);
  const Range range{-1, 1};
  std::vector<Tensor> whole, zooms;
  for (const auto& x : shown) {
    whole.push_back(picture(x, range, Colormap::gray));
    zooms.push_back(enlarged(cut(x, window), whole.back().size(1), range, Colormap::gray));
  }
  return joined({joined(whole, 2), joined(zooms, 2)}, 1);
}

Tensor uncertainty_figure(const TaskResults& task, int64_t image) {
  const auto truth = of(task.problem.truths, image);
  std::vector<Tensor> errors, sds, judged;
  for (const auto& r : task.reconstructions) {
    if (!r.sd.defined()) continue;
    errors.push_back((of(r.mean, image) - truth).abs());
    sds.push_back(of(r.sd, image));
    if (!r.diverged) judged.insert(judged.end(), {errors.back(), sds.back()});
  }
  // One scale for error and SD, from the methods that are any good: a third of the worst pixel would hide the rest.
  const auto middle = judged.empty() ? 0 : at::stack(judged).flatten(1).quantile(0.99, 1).median().item<double>();
  const Range range{0, middle > 0 ? middle : 1};
  std::vector<Tensor> first, second, third;
  for (size_t i = 0; i < errors.size(); ++i) {
    first.push_back(picture(errors[i], range, Colormap::sd));
    second.push_back(picture(sds[i], range, Colormap::sd));
    const auto outside = (errors[i] > 3 * sds[i]).to(at::kDouble);
    const auto factor = std::max<int64_t>(1, truth.size(0) / tile);
    const auto red = at::max_pool2d(outside.unsqueeze(0).unsqueeze(0), {factor, factor})[0][0] > 0;
    auto picture_of_truth = picture(truth, {-1, 1}, Colormap::gray);
    picture_of_truth = picture_of_truth.clone();
    picture_of_truth[0].masked_fill_(red, 255);
    picture_of_truth[1].masked_fill_(red, 0);
    picture_of_truth[2].masked_fill_(red, 0);
    third.push_back(picture_of_truth);
  }
  return joined({joined(first, 2), joined(second, 2), joined(third, 2)}, 1);
}

report::Chart course_chart(const TaskResults& task) {
  report::Chart chart;
  chart.title = task.problem.task.label + ": PSNR of the chains' mean";
  chart.x.label = "iteration";
  chart.y.label = "PSNR (dB)";
  for (const auto& r : task.reconstructions) {
    if (!r.has_course) continue;
    report::Series series;
    series.name = r.method;
    for (const auto& [k, psnr] : r.course) series.x.push_back(static_cast<double>(k)), series.y.push_back(psnr);
    chart.series.push_back(series);
  }
  return chart;
}

}  // namespace penumbra::app::linear
