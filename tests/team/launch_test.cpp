/// A process's place, from the variables of each launcher.
#include <gtest/gtest.h>

#include "support/message.h"
#include "team/launch.h"

namespace penumbra::test {
namespace {

const Variables torchrun{{"RANK", "3"},
                         {"WORLD_SIZE", "4"},
                         {"LOCAL_RANK", "1"},
                         {"LOCAL_WORLD_SIZE", "2"},
                         {"MASTER_ADDR", "node7"},
                         {"MASTER_PORT", "29511"},
                         {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
const Variables srun{{"SLURM_PROCID", "5"},  {"SLURM_NTASKS", "8"},  {"SLURM_LOCALID", "1"},
                     {"SLURM_JOB_ID", "77"}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NODELIST", "gpu[07-08,12],login1"}};
const Variables open_mpi{{"OMPI_COMM_WORLD_RANK", "1"},
                         {"OMPI_COMM_WORLD_SIZE", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
const Variables mpich{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};

Variables with(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

std::string complaint(const Variables& variables) {
  return message_of([&] { launch_from(variables); });
}

TEST(Launch, NothingSaysAlone) {
  const auto launch = launch_from({{"PATH", "/bin"}});
  EXPECT_EQ(launch.rank, 0);
  EXPECT_EQ(launch.size, 1);
}

TEST(Launch, Torchrun) {
  const auto launch = launch_from(torchrun);
  EXPECT_EQ(launch.rank, 3);
  EXPECT_EQ(launch.size, 4);
  EXPECT_EQ(launch.local_rank, 1);
  EXPECT_EQ(launch.address, "node7");
  EXPECT_EQ(launch.port, 29511);
  EXPECT_TRUE(launch.agent_serves);
}

TEST(Launch, SrunMeetsAtTheFirstNodeOfTheStep) {
  const auto launch = launch_from(srun);
  EXPECT_EQ(launch.rank, 5);
  EXPECT_EQ(launch.size, 8);
  EXPECT_EQ(launch.local_rank, 1);
  EXPECT_EQ(launch.address, "gpu07");
  EXPECT_FALSE(launch.agent_serves);
  for (const auto& [nodes, first] :
       {std::pair{"gpu7", "gpu7"}, {"a1,b2", "a1"}, {"n[3]", "n3"}, {"n[03,05-07]", "n03"}, {"r1n[10-12]", "r1n10"}})
    EXPECT_EQ(launch_from(with(srun, {{"SLURM_STEP_NODELIST", nodes}})).address, first);
}

TEST(Launch, SrunOnOneNodeStaysOnIt) {
  EXPECT_EQ(launch_from(with(srun, {{"SLURM_STEP_NUM_NODES", "1"}})).address, "127.0.0.1");
}

TEST(Launch, SrunThatSpeaksPmiTooIsSrun) {
  const auto launch = launch_from(with(srun, {{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}}));
  EXPECT_EQ(launch.local_rank, 1);
  EXPECT_EQ(launch.address, "gpu07");
}

/// The batch script has SLURM_PROCID = 0 and the job's number of tasks, but waits for nobody.
TEST(Launch, ABatchScriptIsAlone) {
  EXPECT_EQ(launch_from({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "77"}}).size, 1);
}

TEST(Launch, MpirunOnOneNode) {
  for (const auto& variables : {open_mpi, mpich}) {
    const auto launch = launch_from(variables);
    EXPECT_EQ(launch.rank, 1);
    EXPECT_EQ(launch.size, 2);
    EXPECT_EQ(launch.local_rank, 1);
    EXPECT_EQ(launch.address, "127.0.0.1");
  }
}

TEST(Launch, MpirunInsideASlurmJobIsMpirun) {
  const Variables job{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_STEP_NODELIST", "n1"}};
  EXPECT_EQ(launch_from(with(open_mpi, job)).rank, 1);
  EXPECT_EQ(launch_from(with(mpich, job)).rank, 1);
}

TEST(Launch, SeveralNodesWithoutAnAddressAreToldWhatToSet) {
  for (const auto& variables :
       {with(open_mpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}}), with(mpich, {{"MPI_LOCALNRANKS", "1"}})}) {
    EXPECT_TRUE(contains(complaint(variables), "MASTER_ADDR")) << complaint(variables);
    EXPECT_EQ(launch_from(with(variables, {{"MASTER_ADDR", "n1"}})).address, "n1");
  }
}

TEST(Launch, PortsAreGivenOrTheJobsOwn) {
  EXPECT_EQ(launch_from(with(srun, {{"PENUMBRA_PORT", "4242"}})).port, 4242);
  EXPECT_EQ(launch_from(with(srun, {{"PENUMBRA_PORT", "4242"}, {"MASTER_PORT", "4243"}})).port, 4243);
  const auto port = launch_from(srun).port;
  EXPECT_EQ(launch_from(with(srun, {{"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}})).port, port);
  EXPECT_NE(launch_from(with(srun, {{"SLURM_JOB_ID", "78"}})).port, port);
  EXPECT_NE(launch_from(with(srun, {{"SLURM_STEP_ID", "1"}})).port, port);
  EXPECT_GE(port, 15000);
  EXPECT_LT(port, 30000);
}

TEST(Launch, WrongValuesAreNamed) {
  const std::vector<std::pair<Variables, std::string>> wrong{
      {with(torchrun, {{"RANK", "4"}}), "RANK: expected less than WORLD_SIZE = 4, found 4"},
      {with(torchrun, {{"RANK", "-1"}}), "RANK"},
      {with(torchrun, {{"RANK", "1x"}}), "RANK"},
      {with(torchrun, {{"RANK", ""}}), "RANK: missing"},
      {with(torchrun, {{"WORLD_SIZE", ""}}), "WORLD_SIZE: missing"},
      {with(torchrun, {{"WORLD_SIZE", "0"}}), "WORLD_SIZE"},
      {with(torchrun, {{"WORLD_SIZE", "99999999999999999999"}}), "WORLD_SIZE"},
      {with(torchrun, {{"LOCAL_RANK", "four"}}), "LOCAL_RANK"},
      {with(torchrun, {{"MASTER_PORT", "65536"}}), "MASTER_PORT"},
      {with(torchrun, {{"PENUMBRA_TIMEOUT_S", "soon"}}), "PENUMBRA_TIMEOUT_S"},
      {with(srun, {{"SLURM_NTASKS", "many"}}), "SLURM_NTASKS"},
      {with(srun, {{"SLURM_PROCID", "8"}}), "SLURM_PROCID"},
      {with(open_mpi, {{"OMPI_COMM_WORLD_SIZE", ""}}), "OMPI_COMM_WORLD_SIZE: missing"},
      {with(mpich, {{"PMI_RANK", "2"}}), "PMI_RANK"}};
  for (const auto& [variables, words] : wrong)
    EXPECT_TRUE(contains(complaint(variables), words)) << words << " in: " << complaint(variables);
}

}  // namespace
}  // namespace penumbra::test
