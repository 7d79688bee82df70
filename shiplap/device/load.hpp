// Who uses a node besides this program: its GPU, the link of the GPU, and the CPUs of the host.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shiplap/core/units.hpp"

namespace shiplap {

class MeasurableDevice;

/// Another process that holds memory of a GPU for kernels and copies. It need not be at work.
struct GpuProcess {
  unsigned id = 0;     ///< number of the process
  std::string name{};  ///< path or name of its program; empty when it is unknown
};

/// How much a GPU and its link are used, as the driver reports it. Work of this program counts for about a second.
struct GpuLoad {
  std::optional<double> busy{};         ///< fraction of the last second in which a kernel ran; nullopt: unknown
  std::optional<Bandwidth> link{};      ///< bytes per second over the link, both directions together; nullopt: unknown
  std::vector<GpuProcess> processes{};  ///< processes other than this one; empty also where they are unknown
};

/// How much others use a node.
struct NodeLoad {
  GpuLoad gpu{};                 ///< its GPU and the link
  std::optional<double> host{};  ///< fraction of the time of all CPUs that other programs use; nullopt: unknown
};

/// Observes the node for this time, in which the caller leaves the device alone. A virtual device has no load.
NodeLoad observe_load(const MeasurableDevice&, Seconds duration);

/// What others are doing, as sentences for people: "the GPU is in use 87 % of the time (process 4242, python)". Empty
/// when the node is idle. Idle processes are no work.
std::vector<std::string> work_of_others(const NodeLoad&);
/// Other processes that hold memory of the GPU, as sentences for people. They may have worked in between.
std::vector<std::string> possible_work_of_others(const NodeLoad&);

/// Total times of the CPUs of a host.
struct CpuTimes {
  double busy = 0;  ///< in ticks
  double all = 0;   ///< in ticks
};
/// Reads the text of /proc/stat; nullopt when the text is another one.
std::optional<CpuTimes> cpu_times(const std::string& proc_stat);

}  // namespace shiplap
