/// A folder of small pictures and a training configuration beside it, and how to train by them.
#pragma once

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/random.h"
#include "io/image.h"
#include "support/message.h"
#include "support/paths.h"
#include "support/program.h"

namespace penumbra::test {

using Words = std::vector<std::string>;

/// Smooth 8x8 pictures.
inline void write_pictures(const std::filesystem::path& folder, int64_t count = 40) {
  std::filesystem::create_directories(folder);
  const auto draws = uniform({1, 0, 0}, Stream::truth, at::empty({count, 2}, at::kDouble));
  const auto place = at::arange(8, at::kDouble) / 8;
  for (int64_t i = 0; i < count; ++i) {
    const auto x = draws[i][0] * place.unsqueeze(0) + draws[i][1] * place.unsqueeze(1);
    io::write_png(folder / fmt::format("{:02}.png", i), (127 * x).to(at::kByte).unsqueeze(0));
  }
}

struct TrainingFolder : testing::Test {
  std::filesystem::path folder = scratch(), config = folder / "train.yaml";

  TrainingFolder(int64_t pictures, const std::string& configuration) {
    write_pictures(folder / "pictures", pictures);
    write_text(config, configuration);
  }
  Words words(const std::string& run, Words more = {}) const {
    Words args{"train", config.string(), "--out", (folder / run).string(), "--device", "cpu"};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  Result train(const std::string& run, const Words& more = {}) const { return penumbra(words(run, more)); }
  void must_train(const std::string& run, const Words& more = {}) const {
    const auto result = train(run, more);
    ASSERT_EQ(result.code, 0) << result.err;
  }
  nlohmann::json summary(const std::string& run) const {
    return nlohmann::json::parse(read_text(folder / run / "summary.json"));
  }
  /// Exit code 2 and a message with all these parts.
  void expect_refused(const Result& result, const Words& parts) const {
    EXPECT_EQ(result.code, 2) << result.err;
    for (const auto& part : parts) EXPECT_TRUE(contains(result.err, part)) << part << "\nnot in: " << result.err;
  }
};

}  // namespace penumbra::test
