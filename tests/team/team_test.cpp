/// Teams of threads: each has a connection of its own, as a process would. tests/cli/team_test.cpp runs processes.
#include "team/team.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "support/message.h"
#include "support/port.h"
#include "team/backend.h"

namespace penumbra::test {
namespace {

/// `work` as every member of a team; the failures in the order of the ranks, empty words where there was none.
std::vector<std::string> as_team(int64_t size, const std::function<void(const Team&)>& work) {
  Launch launch;
  launch.size = size;
  launch.port = free_port();
  launch.timeout_s = 20;
  std::vector<std::string> failures(static_cast<size_t>(size));
  std::vector<std::thread> members;
  for (int64_t rank = 0; rank < size; ++rank)
    members.emplace_back([&, rank, launch]() mutable {
      launch.rank = rank;
      try {
        work(Team::join(launch, at::kCPU));
      } catch (const std::exception& error) {
        failures[static_cast<size_t>(rank)] = error.what();
      }
    });
  for (auto& member : members) member.join();
  return failures;
}

struct TeamTest : testing::Test {
  void SetUp() override {
    if (!can_connect(at::kCPU)) GTEST_SKIP() << "this LibTorch's Gloo cannot be used";
  }
  /// EXPECT_* may be used by one thread at a time.
  std::mutex mutex;
  void expect_equal(const Tensor& found, const Tensor& expected) {
    const std::lock_guard hold(mutex);
    EXPECT_TRUE(at::equal(found, expected)) << found << "\nexpected\n" << expected;
  }
};
const std::vector<std::string> no_failures(3);

TEST(Alone, DoesNothing) {
  const Team team;
  EXPECT_TRUE(team.leads());
  EXPECT_EQ(team.size(), 1);
  auto x = at::arange(3);
  team.sum(x);
  team.broadcast(x);
  EXPECT_TRUE(at::equal(team.gather(x), at::arange(3)));
  EXPECT_TRUE(team.any(true));
  EXPECT_FALSE(team.any(false));
  EXPECT_TRUE(team.agree(7));
  EXPECT_EQ(team.lead([] { return 5; }), 5);
}

TEST_F(TeamTest, SumsEveryType) {
  EXPECT_EQ(as_team(3,
                    [&](const Team& team) {
                      for (const auto type : {at::kFloat, at::kDouble, at::kLong}) {
                        auto x = at::full({2, 2}, team.rank() + 1, at::TensorOptions().dtype(type));
                        team.sum(x);
                        expect_equal(x, at::full({2, 2}, 6, at::TensorOptions().dtype(type)));
                      }
                    }),
            no_failures);
}

TEST_F(TeamTest, SumsWhatIsNotContiguousInPlace) {
  EXPECT_EQ(as_team(3,
                    [&](const Team& team) {
                      auto whole = at::zeros({2, 3});
                      auto column = whole.select(1, 1);
                      column.fill_(1);
                      team.sum(column);
                      expect_equal(whole, at::tensor({0.f, 3.f, 0.f, 0.f, 3.f, 0.f}).reshape({2, 3}));
                    }),
            no_failures);
}

TEST_F(TeamTest, BroadcastsTheLeadersTensor) {
  EXPECT_EQ(as_team(3,
                    [&](const Team& team) {
                      auto x = at::full({4}, team.rank() + 7);
                      team.broadcast(x);
                      expect_equal(x, at::full({4}, 7));
                    }),
            no_failures);
}

TEST_F(TeamTest, GathersUnequalPartsInOrder) {
  EXPECT_EQ(as_team(3,
                    [&](const Team& team) {
                      // Rank 0 has two rows, rank 1 none, rank 2 one.
                      const int64_t rows = std::vector<int64_t>{2, 0, 1}[static_cast<size_t>(team.rank())];
                      const auto whole = team.gather(at::full({rows, 2}, team.rank(), at::kDouble));
                      expect_equal(whole, team.leads() ? at::tensor({0., 0., 0., 0., 2., 2.}).reshape({3, 2})
                                                       : at::zeros({0, 2}, at::kDouble));
                    }),
            no_failures);
}

TEST_F(TeamTest, AgreeHearsTheOneThatDiffers) {
  EXPECT_EQ(as_team(3,
                    [&](const Team& team) {
                      expect_equal(at::scalar_tensor(team.agree(-4)), at::scalar_tensor(true));
                      expect_equal(at::scalar_tensor(team.agree(team.rank() / 2)), at::scalar_tensor(false));
                    }),
            no_failures);
}

TEST_F(TeamTest, AnyHearsOneOfThem) {
  EXPECT_EQ(as_team(3,
                    [&](const Team& team) {
                      if (!team.any(team.rank() == 2)) throw std::runtime_error("unheard");
                      if (team.any(false)) throw std::runtime_error("heard nothing");
                    }),
            no_failures);
}

TEST_F(TeamTest, TheLeadersResultIsEverybodys) {
  EXPECT_EQ(as_team(3,
                    [&](const Team& team) {
                      const auto result = team.lead(
                          [&]() -> int64_t { return team.leads() ? 130 : throw std::runtime_error("not mine"); });
                      if (result != 130) throw std::runtime_error(std::to_string(result));
                    }),
            no_failures);
}

TEST_F(TeamTest, TheLeadersErrorEndsAllWithItsKind) {
  const auto failures = as_team(3, [&](const Team& team) {
    try {
      team.lead([]() -> int64_t { input_error("folder: full"); });
    } catch (const InputError& error) {
      throw std::runtime_error(std::string("input: ") + error.what());
    }
  });
  EXPECT_EQ(failures[0], "input: folder: full");
  for (const auto rank : {1, 2}) EXPECT_EQ(failures[rank], "input: process 0 ended this run; its message says why");
}

TEST_F(TeamTest, AMemberThatLeavesIsNotWaitedForInVain) {
  const auto failures = as_team(3, [&](const Team& team) {
    if (team.rank() == 1) throw std::runtime_error("out of memory");
    auto x = at::ones({3});
    team.sum(x);
  });
  EXPECT_TRUE(contains(failures[0], "process 0 of 3: another process")) << failures[0];
  EXPECT_TRUE(contains(failures[2], "process 2 of 3: another process")) << failures[2];
}

TEST_F(TeamTest, MembersThatNeverComeAreNotWaitedForInVain) {
  Launch launch;
  launch.size = 2;
  launch.timeout_s = 1;
  for (launch.rank = 0; launch.rank < 2; ++launch.rank) {
    launch.port = free_port();
    const auto message = message_of<MachineError>([&] { Team::join(launch, at::kCPU); });
    EXPECT_TRUE(contains(message, "cannot join the others at 127.0.0.1:" + std::to_string(launch.port))) << message;
  }
}

TEST(DeviceOf, TheLocalRankChoosesTheGpu) {
  Launch launch;
  launch.size = 8;
  launch.local_rank = 3;
  EXPECT_EQ(device_of(launch, at::Device("cuda"), 4), at::Device("cuda:3"));
  EXPECT_EQ(device_of(launch, at::Device("cuda"), 1), at::Device("cuda:0"));
  EXPECT_EQ(device_of(launch, at::Device("cuda:2"), 4), at::Device("cuda:2"));
  EXPECT_EQ(device_of(launch, at::Device("cpu"), 4), at::Device("cpu"));
  launch.size = 1;
  EXPECT_EQ(device_of(launch, at::Device("cuda"), 4), at::Device("cuda"));
}

}  // namespace
}  // namespace penumbra::test
