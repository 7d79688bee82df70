// shiplap fleet check: each rank of a launched program checks GPUs of its node, and rank 0 judges all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/cli11.hpp"
#include "cli/fleet_output.hpp"

namespace shiplap::cli {

struct FleetCheckFlags {
  std::vector<std::string> devices;  ///< names of devices; empty: every GPU that the rank sees
  std::string budget = "60s";
  std::string begin_within = "60s";
  unsigned repeats = 1;
  bool at_once = false;
  std::string folder;  ///< where ranks send messages as files; empty: by MPI
  std::optional<std::size_t> rank;
  std::optional<std::size_t> ranks;
  std::string run;   ///< name of the run; empty: the launcher's
  std::string node;  ///< name of the node; empty: the launcher's, or the host's
  FleetOutputFlags output;
};
void add_fleet_check(CLI::App& fleet);
void run_fleet_check(const FleetCheckFlags&);

/// shiplap fleet copy: copies with one GPU at a time that several processes agree on.
struct FleetCopyFlags {
  std::string device;
  double begin = 0;  ///< seconds since 1970
};
void add_fleet_copy(CLI::App& fleet);
void run_fleet_copy(const FleetCopyFlags&);

}  // namespace shiplap::cli
