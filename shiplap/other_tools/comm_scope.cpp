// Comm|Scope (github.com/c3sr/comm_scope): JSON of Google Benchmark. Each benchmark is the time of one op of a size;
// sizes and the numbers of GPUs and NUMA nodes are counters of it.
#include <array>
#include <nlohmann/json.hpp>

#include "shiplap/core/json.hpp"
#include "shiplap/other_tools/tool_text.hpp"

namespace shiplap {
namespace {

struct Benchmark {
  std::string_view name;
  ToolPrimitive primitive;
  CopyDirection direction = CopyDirection::host_to_device;
  MemoryKind memory = MemoryKind::pinned;
};
constexpr std::array benchmarks{
    Benchmark{"Comm_cudaMemcpyAsync_PinnedToGPU", ToolPrimitive::copy},
    Benchmark{"Comm_cudaMemcpyAsync_GPUToPinned", ToolPrimitive::copy, CopyDirection::device_to_host},
    Benchmark{"Comm_cudaMemcpyAsync_HostToGPU", ToolPrimitive::copy, CopyDirection::host_to_device,
              MemoryKind::pageable},
    Benchmark{"Comm_cudaMemcpyAsync_GPUToHost", ToolPrimitive::copy, CopyDirection::device_to_host,
              MemoryKind::pageable},
    Benchmark{"Comm_cudaMemcpyAsync_GPUToGPU", ToolPrimitive::staged_peer_copy, CopyDirection::device_to_device},
    Benchmark{"Comm_cudaMemcpyAsync_GPUToGPUPeer", ToolPrimitive::peer_copy, CopyDirection::device_to_device},
    Benchmark{"Comm_cudaMemcpyPeerAsync_GPUToGPUPeer", ToolPrimitive::peer_copy, CopyDirection::device_to_device},
    Benchmark{"Comm_UM_Prefetch_HostToGPU", ToolPrimitive::prefetch, CopyDirection::host_to_device,
              MemoryKind::managed},
    Benchmark{"Comm_UM_Prefetch_GPUToHost", ToolPrimitive::prefetch, CopyDirection::device_to_host,
              MemoryKind::managed},
    Benchmark{"Comm_UM_Demand_HostToGPU", ToolPrimitive::page_faults, CopyDirection::host_to_device,
              MemoryKind::managed},
    Benchmark{"Comm_UM_Demand_GPUToHost", ToolPrimitive::page_faults, CopyDirection::device_to_host,
              MemoryKind::managed},
    Benchmark{"Comm_UM_Demand_GPUToHostMt", ToolPrimitive::page_faults, CopyDirection::device_to_host,
              MemoryKind::managed}};
/// A copy in each direction; the time is that until both have ended.
constexpr std::string_view duplex_benchmark = "Comm_cudaMemcpyAsync_Duplex_Pinned";

double seconds_in(std::string_view unit) {
  return unit == "ns" ? 1e-9 : unit == "us" ? 1e-6 : unit == "ms" ? 1e-3 : unit == "s" ? 1 : 0;
}

/// The counter with the first of these names that is there; 0 without any.
std::uint64_t counter(const Json& run, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto found = run.find(name); found != run.end() && found->is_number()) {
      const double value = found->get<double>();
      if (value >= 0 && value <= 1e18) return static_cast<std::uint64_t>(value);
    }
  return 0;
}

void add_run(const Json& run, ToolOutput& out) {
  const std::string& full_name = run.at("name").get_ref<const std::string&>();
  const auto parts = parts_of(full_name, "/");
  // Means and deviations of repetitions follow from the repetitions.
  if (full_name.ends_with("_mean") || full_name.ends_with("_median") || full_name.ends_with("_stddev") ||
      full_name.ends_with("_cv"))
    return;
  if (const auto failed = run.find("error_occurred"); failed != run.end() && *failed == Json(true))
    return leave_out(out, full_name.substr(0, full_name.find('/')) + ", which failed");
  const auto unit = run.find("time_unit");
  const auto time = run.find("real_time");
  if (unit == run.end() || !unit->is_string() || time == run.end() || !time->is_number()) return;
  ToolFigure figure{.size = Bytes{counter(run, {"bytes"})},
                    .value = time->get<double>() * seconds_in(unit->get_ref<const std::string&>()),
                    .unit = ToolUnit::seconds,
                    .gpu = counter(run, {"cuda_id", "src_gpu", "srcGpu", "src"}),
                    .peer = counter(run, {"dst_gpu", "dstGpu", "dst"}),
                    .numa_node = counter(run, {"numa_id"})};
  if (parts[0] == duplex_benchmark && parts.size() > 2) {
    // The counters lack both numbers, which the name has: NUMA node, then GPU.
    figure.primitive = ToolPrimitive::duplex_copy;
    figure.numa_node = printed_integer(parts[1]).value_or(0);
    figure.gpu = printed_integer(parts[2]).value_or(0);
    add_figure(out, figure);
    figure.direction = CopyDirection::device_to_host;
    return add_figure(out, figure);
  }
  for (const Benchmark& known : benchmarks) {
    if (parts[0] != known.name) continue;
    figure.primitive = known.primitive;
    figure.direction = known.direction;
    figure.memory = known.memory;
    if (parts[0].ends_with("Mt") && parts.size() > 3) figure.threads = printed_integer(parts[3]).value_or(0);
    const bool between_gpus = known.direction == CopyDirection::device_to_device;
    if (between_gpus && figure.gpu == figure.peer) figure.primitive = ToolPrimitive::copy_within;
    return add_figure(out, figure);
  }
  leave_out(out, parts[0]);
}

}  // namespace

ToolOutput read_comm_scope(const Json& json) {
  ToolOutput out{.tool = "Comm|Scope"};
  for (const Json& run : json.at("benchmarks"))
    if (run.is_object() && run.contains("name") && run.at("name").is_string()) add_run(run, out);
  return out;
}

}  // namespace shiplap
