#include "training/images.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <span>

#include "core/error.h"
#include "io/array_setting.h"
#include "io/checksum.h"
#include "io/file.h"
#include "io/jpeg.h"
#include "io/npy.h"
#include "io/sky_image.h"
#include "networks/header.h"
#include "training/files.h"
#include "training/fit.h"

namespace penumbra::training {
namespace {

constexpr double gibi = 1024.0 * 1024 * 1024;

/// Where an image goes.
struct Place {
  bool validation = false;
  int64_t row = 0;
};

/// A file, and the places of its images in a list of all.
struct Job {
  ImageFile file;
  size_t first = 0;
};

uint64_t half_of_memory() {
  return static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGE_SIZE)) / 2;
}

std::string name_of(const ImageFile& file, int64_t image) {
  return file.format == ImageFormat::npy && file.images > 1 ? fmt::format("{}#{}", file.name, image) : file.name;
}

/// Links resolved.
bool is_within(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto inner = std::filesystem::weakly_canonical(path), outer = std::filesystem::weakly_canonical(folder);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

/// What black and white of a file become before they are stored: [0, 1], or its own values for an array.
Tensor fractions(const io::Pixels& pixels) {
  auto image = at::empty({pixels.channels, pixels.height, pixels.width}, at::kFloat);
  auto* out = image.data_ptr<float>();
  const auto* in = pixels.data.data();
  const bool wide = pixels.bytes_per_sample == 2;
  const auto count = pixels.height * pixels.width;
  for (int64_t c = 0; c < pixels.channels; ++c)
    for (int64_t i = 0; i < count; ++i) {
      const auto at = i * pixels.channels + c;
      *out++ =
          wide ? static_cast<float>(256 * in[2 * at] + in[2 * at + 1]) / 65535.0F : static_cast<float>(in[at]) / 255.0F;
    }
  return image;
}

class Reader {
 public:
  Reader(const ImageSetOptions& options, const ReadProgress& progress)
      : options_(options), shape_{options.channels, options.height, options.width}, progress_(progress) {}

  ImageSet read() {
    plan();
    check_counts();
    check_memory();
    set_.train = allocate(set_.train_names.size());
    set_.validation = allocate(set_.validation_names.size());
    run();
    set_.enlarged = enlarged_;
    set_.low = options_.low;
    set_.high = options_.high;
    set_.fingerprint = fingerprint();
    return std::move(set_);
  }

 private:
  void plan() {
    add_folder(options_.folder, options_.validation_folder ? 0 : options_.validation_share);
    if (options_.validation_folder) add_folder(*options_.validation_folder, 1);
    for (const auto& job : jobs_) bytes_ = bytes_ && job.file.bytes;
    sums_.resize(jobs_.size());
  }

  void add_folder(const std::filesystem::path& folder, double share) {
    auto [files, skipped] = find_images(folder);
    if (files.empty())
      input_error(
          "{}: expected a folder of images (PNG, JPEG, NPY, FITS or ehtim's text), found none{}", folder.string(),
          skipped.empty() ? "" : fmt::format("; {} other files, {} the first", skipped.size(), skipped.front()));
    set_.skipped.insert(set_.skipped.end(), skipped.begin(), skipped.end());
    for (auto& file : files) {
      if (share < 1 && options_.validation_folder && is_within(file.path, *options_.validation_folder)) continue;
      const auto first = places_.size();
      for (int64_t i = 0; i < file.images; ++i) {
        auto name = name_of(file, i);
        const bool validation = is_held_out(name, share);
        auto& names = validation ? set_.validation_names : set_.train_names;
        places_.push_back({validation, static_cast<int64_t>(names.size())});
        names.push_back(std::move(name));
      }
      jobs_.push_back({std::move(file), first});
    }
  }

  void check_counts() const {
    const auto train = static_cast<int64_t>(set_.train_names.size());
    if (train < options_.least)
      input_error(
          "{}: expected at least {} images to train on, found {}{}", options_.folder.string(), options_.least, train,
          set_.validation_names.empty() ? "" : fmt::format(" beside {} for validation", set_.validation_names.size()));
    if (set_.validation_names.empty() && options_.validation_share > 0)
      input_error(
          "{}: none of the {} images fell into the share {} that is held out for validation; raise "
          "validation_share or name a validation_folder",
          options_.folder.string(), train, options_.validation_share);
  }

  void check_memory() const {
    uint64_t largest_array = 0;
    for (const auto& job : jobs_)
      if (job.file.format == ImageFormat::npy) largest_array = std::max(largest_array, job.file.size);
    const auto image = static_cast<double>(element_count(shape_)) * (bytes_ ? 1 : 4);
    // An array is in memory twice while it is read, once as the file's bytes.
    const auto needed =
        image * static_cast<double>(places_.size()) + 2.0 * static_cast<double>(largest_array) * at::get_num_threads();
    require_memory(options_.memory_limit,
                   fmt::format("{}: {} images of {} as {}", options_.folder.string(), places_.size(), describe(shape_),
                               bytes_ ? "bytes" : "floats"),
                   needed, "use fewer or smaller images, or raise memory_gib");
  }

  Tensor allocate(size_t count) const {
    return at::empty({static_cast<int64_t>(count), shape_[0], shape_[1], shape_[2]}, bytes_ ? at::kByte : at::kFloat);
  }

  /// One file after another to whichever thread is free. Files are handed out in order and none is given up half way,
  /// so the error that is reported, of the first damaged file, is always the same.
  void run() {
    const auto threads = std::min<int64_t>(at::get_num_threads(), static_cast<int64_t>(jobs_.size()));
    at::parallel_for(0, threads, 1, [&](int64_t begin, int64_t end) {
      for (; begin < end; ++begin)
        for (size_t i; !failed_ && (i = next_++) < jobs_.size();) attempt(i);
    });
    if (error_) std::rethrow_exception(error_);
  }

  void attempt(size_t i) {
    std::exception_ptr error;
    try {
      read_file(i);
    } catch (...) {
      error = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    try {
      if (!error && progress_) progress_(++done_, static_cast<int64_t>(jobs_.size()));
    } catch (...) {
      error = std::current_exception();
    }
    if (!error) return;
    failed_ = true;
    if (i < error_at_) error_at_ = i, error_ = error;
  }

  void read_file(size_t i) {
    const auto& [file, first] = jobs_[i];
    const auto content = io::read_file(file.path);
    sums_[i] = io::checksum(content);
    const auto name = file.path.string();
    if (file.format == ImageFormat::npy) {
      const auto images = images_of(io::parse_npy(content, name), name);
      if (images.size(0) != file.images) input_error("{}: the file has changed while it was read", name);
      for (int64_t k = 0; k < file.images; ++k) store(images[k].to(at::kFloat), places_[first + k]);
      return;
    }
    if (file.format == ImageFormat::sky) return store(in_range(read_sky(content, name), name), places_[first]);
    const auto pixels =
        file.format == ImageFormat::png ? io::decode_png(content, name) : io::decode_jpeg(content, name);
    const auto image = fractions(pixels);
    store(bytes_ ? image : options_.low + (options_.high - options_.low) * image, places_[first]);
  }

  Tensor read_sky(const std::string& content, const std::string& name) {
    const std::lock_guard lock(sky_mutex_);  // CFITSIO may have been built for one thread
    return io::parse_sky_image(content, name).pixels.unsqueeze(0);
  }

  /// Jy a pixel depend on the source's distance and the pixels' size: the brightest becomes white, no light black.
  Tensor in_range(const Tensor& sky, const std::string& name) const {
    const double brightest = sky.max().item<double>();
    if (!(brightest > 0)) input_error("{}: expected pixels with light, found {} for the brightest", name, brightest);
    return (options_.low + (options_.high - options_.low) * (sky / brightest).clamp_min(0)).to(at::kFloat);
  }

  /// An array as [N, C, H, W], checked.
  Tensor images_of(Tensor array, const std::string& name) const {
    while (array.dim() < 4) array = array.unsqueeze(0);
    if (array.size(1) != 1 && array.size(1) != 3)
      input_error("{}: expected 1 or 3 channels, as [H, W], [C, H, W] or [N, C, H, W], found shape [{}]", name,
                  describe(array.sizes()));
    if (!array.isfinite().all().item<bool>()) input_error("{}: expected finite numbers", name);
    const auto low = array.min().to(at::kDouble).item<double>(), high = array.max().to(at::kDouble).item<double>();
    const auto slack = 1e-6 * (options_.high - options_.low);
    if (low < options_.low - slack || high > options_.high + slack)
      input_error(
          "{}: expected values in the range [{}, {}], found {} to {}; an array's values are kept as they are: "
          "change the range or the array",
          name, options_.low, options_.high, low, high);
    return array;
  }

  void store(const Tensor& image, const Place& place) {
    if (is_smaller(image, shape_)) ++enlarged_;
    const auto fitted = fit(image, shape_);
    const auto& target = place.validation ? set_.validation : set_.train;
    target[place.row].copy_(bytes_ ? (255 * fitted).round().clamp(0, 255) : fitted);
  }

  std::string fingerprint() const {
    auto sum = io::checksum({});
    for (size_t i = 0; i < jobs_.size(); ++i) {
      const auto& file = jobs_[i].file;
      const auto line = fmt::format("{}\n{}\n{}\n", file.name, file.size, io::format_checksum(sums_[i]));
      sum = io::checksum(line, sum);
    }
    return io::format_checksum(sum);
  }

  const ImageSetOptions& options_;
  const Shape shape_;
  const ReadProgress& progress_;
  ImageSet set_;
  bool bytes_ = true;
  std::vector<Job> jobs_;
  std::vector<Place> places_;
  std::vector<uint64_t> sums_;
  std::atomic<size_t> next_{0};
  std::atomic<int64_t> enlarged_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_, sky_mutex_;
  int64_t done_ = 0;
  size_t error_at_ = std::numeric_limits<size_t>::max();
  std::exception_ptr error_;
};

Tensor select(const Tensor& images, const Tensor& indices, const ImageSet& set, const Placement& placement) {
  const auto rows = images.index_select(0, indices.to(images.device())).to(placement.device);
  const auto floats = rows.to(placement.precision);
  return rows.scalar_type() == at::kByte ? set.low + (set.high - set.low) / 255 * floats : floats;
}

}  // namespace

ImageSetOptions image_set_setting(Settings section) {
  ImageSetOptions options;
  options.folder = section.folder("folder");
  if (section.has("validation_folder")) {
    options.validation_folder = section.folder("validation_folder");
    if (section.has("validation_share"))
      section.fail("validation_share", "expected either a validation_folder or a validation_share");
    if (is_within(options.folder, *options.validation_folder))
      section.fail("validation_folder", "expected a folder that does not hold the images to train on");
  } else {
    options.validation_share = section.number("validation_share", 0.05, {0, 0.5});
  }
  image_form_setting(section, options);
  return options;
}

void image_form_setting(Settings& section, ImageSetOptions& options) {
  const auto shape = io::image_shape_setting(section);
  if (shape[0] != 1 && shape[0] != 3)
    section.fail("image_shape", fmt::format("expected 1 or 3 channels, found {}", shape[0]));
  options.channels = shape[0];
  options.height = shape[1];
  options.width = shape[2];
  const auto range = section.numbers("range", {options.low, options.high});
  // What a prior's header may state.
  if (range.size() != 2 ||
      !(range[0] >= -largest_pixel && range[1] <= largest_pixel && range[1] - range[0] >= smallest_pixel_span))
    section.fail("range", fmt::format("expected [low, high] within {:g} to {:g}, {:g} apart or more", -largest_pixel,
                                      largest_pixel, smallest_pixel_span));
  options.low = range[0];
  options.high = range[1];
  if (section.has("memory_gib"))
    options.memory_limit = static_cast<uint64_t>(gibi * section.number("memory_gib", {0, 1 << 20, true}));
}

void require_memory(uint64_t limit, const std::string& what, double bytes, const std::string& advice) {
  const auto most = static_cast<double>(limit ? limit : half_of_memory());
  if (bytes > most)
    input_error("{} need {:.3g} GiB of memory, the limit is {:.3g} GiB{}; {}", what, bytes / gibi, most / gibi,
                limit ? "" : " (half of this machine's)", advice);
}

Tensor ImageSet::batch(const Tensor& indices, const Placement& placement) const {
  return select(train, indices, *this, placement);
}

Tensor ImageSet::validation_batch(const Tensor& indices, const Placement& placement) const {
  return select(validation, indices, *this, placement);
}

void ImageSet::move_to(at::Device device) {
  train = train.to(device);
  validation = validation.to(device);
}

ImageSet read_images(const ImageSetOptions& options, const ReadProgress& progress) {
  return Reader(options, progress).read();
}

bool is_held_out(const std::string& name, double share) {
  auto hash = io::checksum(name);
  // FNV hardly lets a name's last letters reach its upper bits; these multiplications do.
  for (const uint64_t odd : {0xff51afd7ed558ccdULL, 0xc4ceb9fe1a85ec53ULL}) hash = (hash ^ hash >> 33) * odd;
  return static_cast<double>(hash >> 11) * 0x1p-53 < share;
}

}  // namespace penumbra::training
