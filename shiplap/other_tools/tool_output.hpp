// What another tool has measured, as one plain list of figures, whatever the form of its output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/profile/conditions.hpp"
#include "shiplap/schedule/place.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap {

/// What a tool has timed.
enum class ToolPrimitive : std::uint8_t {
  copy,              ///< a copy between host and GPU
  duplex_copy,       ///< the same while a copy in the other direction runs
  copy_within,       ///< a copy inside the memory of a GPU; each copied byte counts once
  peer_copy,         ///< a copy between GPUs that address each other's memory
  staged_peer_copy,  ///< a copy between GPUs through the host
  prefetch,          ///< pages of managed memory, moved ahead of their use
  page_faults,       ///< pages of managed memory, moved because a kernel or a host thread touched them
};
/// The unit of a figure.
enum class ToolUnit : std::uint8_t { bytes_per_second, seconds };

/// One figure.
struct ToolFigure {
  ToolPrimitive primitive = ToolPrimitive::copy;
  CopyDirection direction = CopyDirection::host_to_device;  ///< between host and GPU; otherwise without a meaning
  std::optional<Bytes> size{};                              ///< absent: the tool does not say it, and it is large
  MemoryKind memory = MemoryKind::pinned;                   ///< kind of the host's memory
  double value = 0;                                         ///< above 0
  ToolUnit unit = ToolUnit::bytes_per_second;
  double rounding = 0;        ///< largest error of the value that the printed digits leave open
  bool back_to_back = false;  ///< the average of copies in a row, which has no latency
  std::uint64_t gpu = 0;      ///< index of the GPU, or of the source of a copy between GPUs
  std::uint64_t peer = 0;     ///< index of the destination of a copy between GPUs
  std::uint64_t numa_node = 0;
  std::uint64_t threads = 1;  ///< host threads that touch pages
};

/// The output of a tool, or of several that were written into one file.
struct ToolOutput {
  std::string tool;                 ///< "nvbandwidth v0.8"
  std::vector<std::string> gpus{};  ///< names of the GPUs; empty: the tool does not print them
  Conditions conditions{};          ///< what it says of driver and toolkit
  std::vector<ToolFigure> figures{};
  std::vector<std::string> left_out{};  ///< what a profile has no parameter for, each once
};

/// Reads text or JSON of nvbandwidth, text or CSV of bandwidthTest, text of p2pBandwidthLatencyTest, JSON of
/// Comm|Scope, and text or CSV of TransferBench. The content tells which it is; a text may hold several of them, and
/// other lines between them. Lines that break off are left out. Throws Error that names `source` and says what the text
/// is, when that can be told, and which command makes one that can be read; also when the text has no figure.
ToolOutput read_tool_output(std::string_view text, const std::string& source);

}  // namespace shiplap
