/// penumbra export RUN --out DIR: a run's images for other programs.
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/command.h"
#include "app/run_sky.h"
#include "app/sky_info.h"
#include "core/error.h"
#include "core/nearest.h"
#include "io/cfl.h"
#include "io/file.h"
#include "io/fits_reader.h"
#include "io/image.h"
#include "io/image_grid.h"
#include "io/nifti.h"
#include "io/npy.h"
#include "io/sky_image.h"
#include "report/colormap.h"
#include "report/run_folder.h"
#include "vlbi/uvfits.h"

namespace penumbra::app {
namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path run, out;
  std::vector<std::string> formats{"npy", "png"};
  double pixel_mm = 1;
  double fov_uas = 0;      ///< of a FITS image's rows; 0: not given
  double jy_per_unit = 0;  ///< 0: not given
  double black = 0;        ///< the value of no brightness
  fs::path source;         ///< UVFITS or FITS whose source a FITS image shows; may be empty
};

/// One of a run's arrays: [C, H, W], or [N, C, H, W].
struct Result {
  std::string name;
  Tensor images;
  report::Range range;  ///< black and white of its PNG
  bool is_spread = false;
};

std::vector<Result> results_of(const report::RunFolder& run) {
  const auto shared = report::range_of({run.mean, run.samples});
  const report::Range spread{0, report::range_of({run.sd}).high};
  std::vector<Result> results{{"mean", run.mean, shared},
                              {"sd", run.sd, spread, true},
                              {"samples", run.samples, shared},
                              {"quantiles", run.quantiles, shared}};
  if (run.aligned_mean && run.aligned_sd) {
    results.push_back({"aligned-mean", *run.aligned_mean, shared});
    results.push_back({"aligned-sd", *run.aligned_sd, spread, true});
  }
  for (size_t mode = 0; run.mode_means.size() > 1 && mode < run.mode_means.size(); ++mode) {
    results.push_back({fmt::format("mode-{}-mean", mode + 1), run.mode_means[mode], shared});
    results.push_back({fmt::format("mode-{}-sd", mode + 1), run.mode_sds.at(mode), spread, true});
  }
  return results;
}

/// What is not given and the run knows.
void fill_from_run(Options& options) {
  const auto sky = sky_of_run(options.run);
  if (!sky) return;
  if (options.fov_uas == 0) options.fov_uas = sky->fov_uas;
  if (options.jy_per_unit == 0) options.jy_per_unit = sky->jy_per_unit;
  options.black = sky->black;
  // A run outlives its data.
  if (options.source.empty() && fs::is_regular_file(sky->data) && looks_like_sky(sky->data)) options.source = sky->data;
}

/// What a picture shows: gray or colour as it is; of two channels, a complex number's parts, the magnitude.
Tensor shown(const Tensor& images) {
  const auto batch = images.dim() == 3 ? images.unsqueeze(0) : images;
  return batch.size(1) == 2 ? batch.square().sum(1, true).sqrt() : batch;
}

void write_picture(const fs::path& path, const Result& result) {
  const auto picture = io::image_grid(shown(result.images));
  const auto range = result.images.size(-3) == 2 ? report::Range{0, report::range_of({picture}).high} : result.range;
  io::write_png(path, io::to_bytes(picture, range.low, range.high));
  fmt::print("  black {:.4g}, white {:.4g}\n", range.low, range.high);
}

/// Complex: of two channels one number, its real and its imaginary part; other channels are BART's coils.
void write_complex(const fs::path& path, const Tensor& images) {
  const auto real = images.to(at::kFloat);
  const auto channels = real.size(-3);
  const auto numbers = channels == 2 ? at::complex(real.select(-3, 0), real.select(-3, 1)).unsqueeze(-3) : real;
  if (numbers.dim() == 3)
    io::write_cfl(path, numbers, {io::cfl_coil});
  else
    io::write_cfl(path, numbers, {io::cfl_batch, io::cfl_coil});
}

/// What the file says of the source, without its pixels.
io::SkyImage source_of(const fs::path& path) {
  io::SkyImage sky;
  if (path.empty()) return sky;
  if (is_uvfits(path)) {
    const auto observation = vlbi::read_uvfits(path);
    sky.source = observation.source;
    sky.right_ascension = observation.right_ascension;
    sky.declination = observation.declination;
    sky.frequency = observation.frequency;
    sky.mjd = static_cast<double>(observation.mjd);
  } else {
    sky = io::read_sky_image(path);
    sky.unit.clear();
  }
  return sky;
}

/// Row 0 in the North, as the models of the sky have it. Without Jy a unit the file says no unit.
void write_sky(const fs::path& path, const Result& result, const Options& options) {
  const auto& images = result.images;
  if (images.size(-3) != 1)
    input_error("{}: fits: expected images of one channel, found {}", options.run.string(), images.size(-3));
  auto sky = source_of(options.source);
  sky.pixels = images.select(-3, 0).to(at::kDouble);
  sky.pixel_radians = options.fov_uas * io::radians_per_microarcsecond / static_cast<double>(sky.pixels.size(-1));
  if (options.jy_per_unit > 0) {
    sky.pixels = (result.is_spread ? sky.pixels : sky.pixels - options.black) * options.jy_per_unit;
    sky.unit = "JY/PIXEL";
  }
  io::write_fits_image(path, sky);
}

std::vector<std::string> extensions_of(const std::string& format) {
  if (format == "nifti") return {".nii"};
  if (format == "cfl") return {".cfl", ".hdr"};
  return {"." + format};
}

void write_result(const Options& options, const std::string& format, const Result& result) {
  const auto path = options.out / (result.name + extensions_of(format).front());
  fmt::print("{}\n", path.string());
  if (format == "npy") io::write_npy(path, result.images.to(at::kFloat));
  if (format == "png") write_picture(path, result);
  if (format == "nifti") io::write_nifti(path, result.images, options.pixel_mm);
  if (format == "cfl") write_complex(path, result.images);
  if (format == "fits") write_sky(path, result, options);
}

/// Before anything is written: nothing that is there is lost, the run's own arrays least of all.
void require_new(const Options& options, const std::vector<Result>& results) {
  for (const auto& format : options.formats)
    for (const auto& extension : extensions_of(format))
      for (const auto& result : results) {
        const auto path = options.out / (result.name + extension);
        if (fs::exists(path))
          input_error("{}: is there already; expected another folder, or none, for --out", path.string());
      }
}

void require_formats(const Options& options) {
  const std::vector<std::string> known{"npy", "png", "nifti", "cfl", "fits"};
  for (const auto& format : options.formats) {
    if (std::find(known.begin(), known.end(), format) == known.end())
      input_error("--format: expected npy, png, nifti, cfl or fits, found {}{}", excerpt(format),
                  suggestion(format, known));
    if (format == "fits" && options.fov_uas == 0)
      input_error("--format fits: expected --fov, the field of view in microarcseconds");
    if (format == "fits" && !io::reads_fits())
      input_error("--format fits: the program was built without CFITSIO; expected npy, png, nifti or cfl");
  }
}

int export_run(Options options) {
  fill_from_run(options);
  require_formats(options);
  const auto run = report::read_run(options.run);
  if (!run.has_answer) input_error("{}: expected a run that finished; this one has no images", options.run.string());
  const auto results = results_of(run);
  require_new(options, results);
  // Complex float32 is the largest of the formats.
  uint64_t bytes = 0;
  for (const auto& result : results) bytes += static_cast<uint64_t>(result.images.numel()) * 8 * options.formats.size();
  io::require_writable(options.out, bytes);
  for (const auto& format : options.formats)
    for (const auto& result : results)
      if (format != "png" || result.name != "quantiles") write_result(options, format, result);
  return success;
}

std::function<int()> declare(CLI::App& command) {
  auto options = std::make_shared<Options>();
  command.add_option("RUN", options->run, "folder of the run")->required();
  command.add_option("--out", options->out, "folder of the files")->required();
  command
      .add_option("--format", options->formats,
                  "npy, png, nifti, cfl, fits: one or more, with commas (default: npy,png)")
      ->delimiter(',');
  command.add_option("--pixel-mm", options->pixel_mm, "nifti: side of a pixel in millimetres (default: 1)")
      ->check(CLI::Range(1e-6, 1e6));
  command
      .add_option("--fov", options->fov_uas,
                  "fits: width of the image in microarcseconds (default: the run's, of an interferometer)")
      ->check(CLI::Range(1e-3, 1e12));
  command
      .add_option("--jy-per-unit", options->jy_per_unit,
                  "fits: Jy of a pixel with the value 1 (default: the run's, of an interferometer; else no unit)")
      ->check(CLI::PositiveNumber);
  command.add_option("--source", options->source,
                     "fits: a UVFITS or FITS file of the same source, for its coordinates (default: the run's data)");
  return [options] { return export_run(*options); };
}

}  // namespace

extern const CommandEntry export_command{"export", "write a run's images for other programs", declare};

}  // namespace penumbra::app
