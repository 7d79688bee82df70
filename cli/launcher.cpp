#include "cli/launcher.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "shiplap/core/error.hpp"

namespace shiplap::cli {
namespace {

/// The variables of a launcher. The parts of the name of a run are joined; a part that is not set is left out.
struct Variables {
  const char* launcher;
  const char* rank;
  const char* size;
  std::array<const char*, 3> run;
  const char* node = nullptr;
  bool has_mpi = false;
  const char* also = nullptr;  ///< a variable that must be set too
};
constexpr std::array launchers{
    Variables{.launcher = "Open MPI",
              .rank = "OMPI_COMM_WORLD_RANK",
              .size = "OMPI_COMM_WORLD_SIZE",
              .run = {"PMIX_NAMESPACE", nullptr, nullptr},
              .has_mpi = true},
    // It is mostly started by srun, once on each node.
    Variables{.launcher = "torchrun",
              .rank = "RANK",
              .size = "WORLD_SIZE",
              .run = {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", nullptr},
              .also = "TORCHELASTIC_RUN_ID"},
    // srun sets PMI_RANK too, where MPI programs of MPICH's family can be started by it.
    Variables{.launcher = "Slurm",
              .rank = "SLURM_PROCID",
              .size = "SLURM_STEP_NUM_TASKS",
              .run = {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"},
              .node = "SLURMD_NODENAME",
              .also = "SLURM_STEP_ID"},  // the script of a batch job is no step
    Variables{.launcher = "an MPI with PMI",
              .rank = "PMI_RANK",
              .size = "PMI_SIZE",
              .run = {"PMI_JOBID", nullptr, nullptr},
              .has_mpi = true},
    Variables{.launcher = "Flux",
              .rank = "FLUX_TASK_RANK",
              .size = "FLUX_JOB_SIZE",
              .run = {"FLUX_JOB_ID", nullptr, nullptr}},
};

std::size_t number(const char* name, std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw UsageError(
        fmt::format("{} is '{}', which is no number of a rank: unset it, or give --rank and --ranks", name, text));
  return value;
}

}  // namespace

std::optional<LaunchedRank> launched_rank(const Environment& given) {
  const Environment value = given ? given : Environment([](const char* name) { return std::getenv(name); });
  for (const Variables& variables : launchers) {
    const char* const rank = value(variables.rank);
    const char* const size = value(variables.size);
    if (rank == nullptr || size == nullptr) continue;
    if (variables.also != nullptr && value(variables.also) == nullptr) continue;
    LaunchedRank launched{.launcher = variables.launcher,
                          .rank = number(variables.rank, rank),
                          .size = number(variables.size, size),
                          .has_mpi = variables.has_mpi};
    if (launched.rank >= launched.size)
      throw UsageError(fmt::format("{} is {} and {} is {}: ranks count from 0, so that there is no such rank",
                                   variables.rank, rank, variables.size, size));
    for (const char* const part : variables.run)
      if (const char* const text = part == nullptr ? nullptr : value(part); text != nullptr)
        launched.run += (launched.run.empty() ? "" : ".") + std::string(text);
    // The default of torchrun, in every run.
    if (launched.run.starts_with("none")) launched.run.clear();
    if (const char* const node = variables.node == nullptr ? nullptr : value(variables.node); node != nullptr)
      launched.node = node;
    return launched;
  }
  return std::nullopt;
}

}  // namespace shiplap::cli
