// The place of this process in a parallel program, as its launcher states it in the environment.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace shiplap::cli {

/// A rank of a launched program.
struct LaunchedRank {
  std::string launcher;  ///< "Slurm", "Open MPI"
  std::size_t rank = 0;  ///< number of this process, from 0
  std::size_t size = 1;  ///< number of processes
  std::string run{};     ///< a name that no other run has; empty: unknown
  bool has_mpi = false;  ///< whether the launcher is that of an MPI
  std::string node{};    ///< name of the node by the launcher; empty: unknown
};

/// Value of an environment variable; nullptr when it is not set.
using Environment = std::function<const char*(const char*)>;

/// What the launcher says: Open MPI, torchrun, srun of Slurm, another MPI (PMI), Flux, in this order, because an MPI
/// or torchrun that was started in a job of Slurm has the variables of both. nullopt without a launcher. Throws
/// UsageError when the variables make no sense.
std::optional<LaunchedRank> launched_rank(const Environment& = {});

}  // namespace shiplap::cli
