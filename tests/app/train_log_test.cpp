// What a training run writes down survives a checkpoint, and its verdict says what it shows.
#include "app/train_log.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "support/message.h"
#include "support/paths.h"
#include "support/program.h"

namespace penumbra::app {
namespace {

using test::contains;
using Which = training::Trainer::Which;

/// Two bands at steps 0 and 500; the first gets better, the second ends at `second`.
TrainLog log_of(double second) {
  TrainLog log;
  log.add({.step = 250, .images = 2000, .seconds = 1.5, .loss = 0.7, .learning_rate = 2e-4, .gradient_norm = 3});
  log.add({.step = 500, .images = 4000, .seconds = 3, .loss = 0.6, .learning_rate = 0, .gradient_norm = 2});
  for (const auto which : {Which::raw, Which::ema}) log.add(0, which, {{0.1, 1, 1.0, 10}, {1, 10, 1.2, 4}});
  log.add(500, Which::raw, {{0.1, 1, 0.5, 13}, {1, 10, second, 5}});
  log.add(500, Which::ema, {{0.1, 1, 0.4, 14}, {1, 10, second, 5}});
  return log;
}

TEST(TrainLog, SurvivesACheckpoint) {
  const auto log = log_of(0.8);
  TrainLog copy;
  copy.restore(log.state());
  const auto a = test::scratch(), b = test::scratch();
  log.write(a);
  copy.write(b);
  for (const auto* name : {"history.csv", "validation.csv"}) {
    EXPECT_FALSE(test::read_text(a / name).empty());
    EXPECT_EQ(test::read_text(a / name), test::read_text(b / name));
  }
  EXPECT_EQ(copy.bands(), log.bands());
  TrainLog empty;
  empty.restore(TrainLog().state());
  EXPECT_TRUE(empty.history().empty());
}

TEST(TrainLog, RefusesTablesOfAnotherShape) {
  const auto message = [](const std::string& name, const Tensor& table) {
    auto state = TrainLog().state();
    state[name] = table;
    return test::message_of([&] { TrainLog().restore(state); });
  };
  EXPECT_TRUE(contains(message("history", at::zeros({3, 6})), "checkpoint: history: expected a table of 7 columns"));
  EXPECT_TRUE(contains(message("validation", at::zeros({6})), "checkpoint: validation: expected a table"));
  EXPECT_TRUE(contains(test::message_of([] { TrainLog().restore({}); }), "checkpoint: history"));
}

TEST(TrainLog, ComparesTheEndWithTheStart) {
  const auto band = log_of(0.8).bands().at(0);
  EXPECT_EQ(band["step"].get<int64_t>(), 500);
  EXPECT_EQ(band["loss"].get<double>(), 0.4);
  EXPECT_EQ(band["loss_raw"].get<double>(), 0.5);
  EXPECT_EQ(band["loss_at_start"].get<double>(), 1.0);
  EXPECT_EQ(log_of(0.8).verdict(),
            "On held-out images the averaged network's loss is 0.6, the mean over 2 ranges of sigma; it was 1.1 at the "
            "start.");
  for (const double no_better : {1.2, 1.5, static_cast<double>(NAN)})
    EXPECT_TRUE(contains(log_of(no_better).verdict(), "At sigma 1 to 10 it is no better than at the start."));
  EXPECT_TRUE(contains(TrainLog().verdict(), "not been judged"));
}

/// A network that reconstructs is judged as a whole.
TEST(TrainLog, WithoutNoiseLevelsThereIsNoSigma) {
  TrainLog log;
  for (const auto which : {Which::raw, Which::ema}) log.add(0, which, {{0, 0, 0.02, 17}});
  log.add(9, Which::raw, {{0, 0, 0.006, 22}});
  log.add(9, Which::ema, {{0, 0, 0.005, 23}});
  const auto folder = test::scratch();
  log.write(folder);
  EXPECT_TRUE(contains(test::read_text(folder / "validation.csv"), "step,weights,loss,psnr\n0,raw,0.02,17.0000\n"));
  ASSERT_EQ(log.bands().size(), 1u);
  EXPECT_FALSE(log.bands()[0].contains("sigma"));
  EXPECT_EQ(log.bands()[0]["loss_at_start"].get<double>(), 0.02);
  EXPECT_EQ(log.verdict(),
            "On held-out images the averaged network's reconstructions have a PSNR of 23.00 dB; their mean squared "
            "error is 0.005, it was 0.02 at the start.");
  EXPECT_EQ(log.lines(), "  held-out images: loss 0.005 (raw 0.006, at the start 0.02), PSNR 23.00 dB\n");
  log.add(10, Which::ema, {{0, 0, NAN, NAN}});
  EXPECT_TRUE(contains(log.verdict(), "no better than gradient descent alone"));
}

}  // namespace
}  // namespace penumbra::app
