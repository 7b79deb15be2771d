/// A folder of images as the tensors that training draws its batches from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/settings.h"
#include "core/tensor.h"

namespace penumbra::training {

struct ImageSetOptions {
  std::filesystem::path folder = {};
  std::optional<std::filesystem::path> validation_folder = {};
  int64_t height = 0, width = 0;
  int64_t channels = 1;         ///< 1 or 3
  double low = -1, high = 1;    ///< values of black and white
  double validation_share = 0;  ///< of the folder's images, held out where there is no validation folder
  uint64_t memory_limit = 0;    ///< bytes; 0: half of the machine's memory
  int64_t least = 2;            ///< fewer images to train on are an error
};

/// The section `data` (docs/training-data.md).
ImageSetOptions image_set_setting(Settings section);

/// What that section says wherever the images are from: their shape, their range, how much memory they may take.
void image_form_setting(Settings& section, ImageSetOptions& options);

/// Throws InputError if `what`, "a: 5 images of 1x6x6" say, need more memory than `limit` bytes; 0: half of the
/// machine's.
void require_memory(uint64_t limit, const std::string& what, double bytes, const std::string& advice);

struct ImageSet {
  Tensor train, validation;  ///< [N, C, H, W]: uint8 where every file had 8 bits, else float32 in [low, high]
  std::vector<std::string> train_names, validation_names;  ///< path from the folder; "a.npy#3" in an array of many
  std::vector<std::string> skipped;                        ///< files that are no images
  int64_t enlarged = 0;                                    ///< images smaller than wanted: their pixels are invented
  double low = -1, high = 1;
  std::string fingerprint;  ///< of all names, sizes and contents: a run goes on only with the same

  /// Those rows of `train`, or of `validation`, as floats in [low, high]; `indices` is [B].
  Tensor batch(const Tensor& indices, const Placement& placement = {at::kFloat, at::kCPU}) const;
  Tensor validation_batch(const Tensor& indices, const Placement& placement = {at::kFloat, at::kCPU}) const;

  /// Keeps the pixels on a device, so that batches need not travel.
  void move_to(at::Device device);
};

/// Files read so far, and all; called by one thread at a time.
using ReadProgress = std::function<void(int64_t done, int64_t total)>;

/// Reads both folders, in parallel, in an order that depends on the names alone. Throws InputError naming the file
/// that is damaged, or saying how much memory would be needed.
ImageSet read_images(const ImageSetOptions& options, const ReadProgress& progress = {});

/// Whether an image is held out: by a hash of its name, so that new images never move an old one to the other side.
bool is_held_out(const std::string& name, double share);

}  // namespace penumbra::training
