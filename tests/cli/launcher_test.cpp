#include "cli/launcher.hpp"

#include <gtest/gtest.h>

#include <map>

#include "shiplap/core/error.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap::cli {
namespace {

std::optional<LaunchedRank> launched_with(const std::map<std::string, std::string>& variables) {
  return launched_rank([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

const std::map<std::string, std::string> slurm_step{{"SLURM_PROCID", "3"},
                                                    {"SLURM_STEP_NUM_TASKS", "4"},
                                                    {"SLURM_JOB_ID", "77"},
                                                    {"SLURM_STEP_ID", "0"},
                                                    {"SLURMD_NODENAME", "node4"}};

TEST(Launcher, is_none_without_variables) { EXPECT_FALSE(launched_with({})); }

TEST(Launcher, srun_states_rank_size_run_and_node) {
  const auto rank = launched_with(slurm_step);
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->launcher, "Slurm");
  EXPECT_EQ(rank->rank, 3u);
  EXPECT_EQ(rank->size, 4u);
  EXPECT_EQ(rank->run, "77.0");
  EXPECT_EQ(rank->node, "node4");
  EXPECT_FALSE(rank->has_mpi);
}

TEST(Launcher, the_script_of_a_batch_job_is_no_rank) {
  EXPECT_FALSE(launched_with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "77"}}));
}

TEST(Launcher, mpirun_within_a_job_of_slurm_is_that_of_the_mpi) {
  std::map<std::string, std::string> variables = slurm_step;
  variables["OMPI_COMM_WORLD_RANK"] = "9";
  variables["OMPI_COMM_WORLD_SIZE"] = "16";
  variables["PMIX_NAMESPACE"] = "12345";
  const auto rank = launched_with(variables);
  ASSERT_TRUE(rank);
  EXPECT_EQ(rank->launcher, "Open MPI");
  EXPECT_EQ(rank->rank, 9u);
  EXPECT_EQ(rank->size, 16u);
  EXPECT_EQ(rank->run, "12345");
  EXPECT_TRUE(rank->has_mpi);
}

TEST(Launcher, srun_that_offers_pmi_is_slurm_and_hydra_is_an_mpi) {
  std::map<std::string, std::string> variables = slurm_step;
  variables["PMI_RANK"] = "3";
  variables["PMI_SIZE"] = "4";
  EXPECT_EQ(launched_with(variables)->launcher, "Slurm");
  const auto hydra = launched_with({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
  ASSERT_TRUE(hydra);
  EXPECT_TRUE(hydra->has_mpi);
  EXPECT_EQ(hydra->run, "");
}

TEST(Launcher, flux_and_torchrun_are_known) {
  EXPECT_EQ(launched_with({{"FLUX_TASK_RANK", "1"}, {"FLUX_JOB_SIZE", "2"}, {"FLUX_JOB_ID", "f1"}})->run, "f1");
  std::map<std::string, std::string> torchrun = slurm_step;
  torchrun["RANK"] = "5";
  torchrun["WORLD_SIZE"] = "8";
  EXPECT_EQ(launched_with(torchrun)->launcher, "Slurm") << "anything may set RANK";
  torchrun["TORCHELASTIC_RUN_ID"] = "t1";
  torchrun["TORCHELASTIC_RESTART_COUNT"] = "2";
  EXPECT_EQ(launched_with(torchrun)->rank, 5u);
  EXPECT_EQ(launched_with(torchrun)->run, "t1.2");
  torchrun["TORCHELASTIC_RUN_ID"] = "none";
  EXPECT_EQ(launched_with(torchrun)->run, "") << "its default is the same in every run";
}

TEST(Launcher, numbers_that_make_no_sense_are_refused) {
  EXPECT_NE(message_of<UsageError>([] {
              launched_with({{"PMI_RANK", "one"}, {"PMI_SIZE", "2"}});
            }).find("PMI_RANK is 'one'"),
            std::string::npos);
  EXPECT_NE(message_of<UsageError>([] {
              launched_with({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}});
            }).find("count from 0"),
            std::string::npos);
}

}  // namespace
}  // namespace shiplap::cli
