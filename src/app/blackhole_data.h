/// Training images that no file holds: black holes, made in memory as the section `data` says.
#pragma once

#include "blackhole/image_set.h"
#include "training/images.h"

namespace penumbra::app {

struct BlackHoleData {
  blackhole::ImageOptions images;  ///< to train on; the held-out ones differ in their seed
  int64_t count = 20000, validation_count = 512;
  uint64_t validation_seed = 0;

  std::string describe() const;
};

/// `blackholes` of the section `data`; the rest of that section is read into `form`, whose range is [0, 1] unless told.
BlackHoleData blackhole_data_setting(Settings& section, training::ImageSetOptions& form);

training::ImageSet generate_data(const BlackHoleData& data, const training::ImageSetOptions& form,
                                 const training::ReadProgress& progress = {});

}  // namespace penumbra::app
