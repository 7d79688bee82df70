// bandwidthTest and p2pBandwidthLatencyTest (github.com/NVIDIA/cuda-samples). GB are 1e9 bytes; the MB of older
// versions of bandwidthTest are 2^20 bytes. Copies inside a GPU count each byte twice, as read and as written.
#include <array>
#include <set>
#include <utility>

#include "shiplap/other_tools/tool_text.hpp"

namespace shiplap {
namespace {

constexpr double read_and_written = 2;

/// Bytes in the unit of a rate; 0 for any other unit.
double bytes_in(std::string_view unit) {
  if (unit == "GB/s") return 1e9;
  return unit == "MB/s" ? in_bytes(1_MiB) : 0;
}

/// What a line or a section of bandwidthTest is about.
struct BandwidthKind {
  std::optional<ToolPrimitive> primitive{};
  CopyDirection direction = CopyDirection::host_to_device;
  std::optional<MemoryKind> memory{};
  double unit = 0;
  double gpus = 1;  ///< number of GPUs whose rates were added
};

void add_bandwidth(const BandwidthKind& kind, std::string_view rate, std::string_view size, ToolOutput& out) {
  const auto value = printed_number(rate);
  const auto bytes = printed_integer(size);
  if (!kind.primitive || !value || !bytes || kind.unit <= 0 || kind.gpus <= 0) return;
  const bool within = *kind.primitive == ToolPrimitive::copy_within;
  if (!within && !kind.memory) return;
  const double scale = kind.unit / kind.gpus / (within ? read_and_written : 1);
  add_figure(out, {.primitive = *kind.primitive,
                   .direction = kind.direction,
                   .size = Bytes{*bytes},
                   .memory = within ? MemoryKind::pinned : *kind.memory,
                   .value = value->value * scale,
                   .rounding = value->rounding * scale,
                   .back_to_back = true});
}

/// Reads a line of CSV: "bandwidthTest-H2D-Pinned, Bandwidth = 12.3 GB/s, Time = ..., Size = 32000000 bytes,
/// NumDevsUsed = 1".
void read_bandwidth_line(std::string_view line, ToolOutput& out) {
  const std::string_view name = line.substr(0, line.find(','));
  const auto rate = between(line, "Bandwidth = ", ",");
  const auto size = between(line, "Size = ", " ");
  if (!rate || !size || words_of(*rate).size() != 2) return;
  BandwidthKind kind{.unit = bytes_in(words_of(*rate)[1])};
  if (name.find("-WriteCombined") != name.npos) return leave_out(out, "write-combined memory");
  kind.primitive = name.ends_with("-D2D") ? ToolPrimitive::copy_within : ToolPrimitive::copy;
  if (name.find("-D2H") != name.npos) kind.direction = CopyDirection::device_to_host;
  if (name.ends_with("-Pinned")) kind.memory = MemoryKind::pinned;
  if (name.ends_with("-Paged")) kind.memory = MemoryKind::pageable;
  if (const auto gpus = between(line, "NumDevsUsed = ", ""))
    if (const auto count = printed_integer(*gpus)) kind.gpus = static_cast<double>(*count);
  add_bandwidth(kind, words_of(*rate)[0], *size, out);
}

/// Whether the line begins a section of readable text, as "Host to Device Bandwidth, 1 Device(s)".
std::optional<BandwidthKind> section_of(std::string_view line) {
  struct Title {
    std::string_view begin;
    ToolPrimitive primitive;
    CopyDirection direction;
  };
  constexpr std::array titles{
      Title{"Host to Device Bandwidth", ToolPrimitive::copy, CopyDirection::host_to_device},
      Title{"Device to Host Bandwidth", ToolPrimitive::copy, CopyDirection::device_to_host},
      Title{"Device to Device Bandwidth", ToolPrimitive::copy_within, CopyDirection::device_to_device}};
  for (const Title& title : titles)
    if (line.starts_with(title.begin)) {
      BandwidthKind kind{.primitive = title.primitive, .direction = title.direction};
      if (const auto gpus = between(line, ",", "Device"))
        if (const auto count = printed_integer(*gpus)) kind.gpus = static_cast<double>(*count);
      return kind;
    }
  return std::nullopt;
}

}  // namespace

ToolOutput read_bandwidth_test(std::string_view text) {
  ToolOutput out;
  BandwidthKind kind;
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with("bandwidthTest-")) read_bandwidth_line(line, out);
    // Several GPUs are averaged, so the first one's name stands for all.
    if (line.starts_with("Device ") && out.gpus.empty())
      if (const auto index = between(line, "Device ", ":"); index && printed_integer(*index))
        name_gpu(out, 0, line.substr(line.find(':') + 1));
    if (const auto section = section_of(line)) kind = *section;
    if (line.starts_with("PINNED Memory Transfers")) kind.memory = MemoryKind::pinned;
    if (line.starts_with("PAGEABLE Memory Transfers")) kind.memory = MemoryKind::pageable;
    if (line.starts_with("Write-Combined")) {
      kind.memory.reset();
      leave_out(out, "write-combined memory");
    }
    if (const auto unit = between(line, "Bandwidth(", ")")) kind.unit = bytes_in(*unit);
    const auto words = words_of(line);
    if (words.size() == 2) add_bandwidth(kind, words[1], words[0], out);
  }
  if (!out.figures.empty()) out.tool = "bandwidthTest";
  return out;
}

ToolOutput read_p2p_test(std::string_view text) {
  ToolOutput out;
  constexpr Bytes one_int{4};  // the size of a copy whose latency is printed
  struct Matrix {
    ToolPrimitive primitive = ToolPrimitive::staged_peer_copy;
    bool latency = false;
    bool to_row = false;  ///< whether the copies go to the GPU of the row
    bool readable = false;
    std::size_t rows = 0;
  } matrix;
  std::set<std::pair<std::uint64_t, std::uint64_t>> apart;  // pairs that cannot address each other's memory
  for (const std::string_view line : lines_of(text)) {
    const auto words = words_of(line);
    if (line.starts_with("Device: "))
      if (const auto index = between(line, "Device: ", ","); index && printed_integer(*index))
        if (const auto name = between(line.substr(line.find(',')), ",", ","))
          name_gpu(out, *printed_integer(*index), *name);
    if (const auto one = between(line, "Device=", " CANNOT Access Peer Device="))
      if (const auto other = between(line, "Peer Device=", ""); printed_integer(*one) && printed_integer(*other))
        apart.emplace(*printed_integer(*one), *printed_integer(*other));
    if (line.find(" Matrix") != line.npos) {
      const bool bidirectional = line.starts_with("Bidirectional");
      const bool enabled = line.find("P2P=Enabled") != line.npos;
      matrix = {.primitive = enabled ? ToolPrimitive::peer_copy : ToolPrimitive::staged_peer_copy,
                .latency = line.find("Latency") != line.npos && line.ends_with("(us)"),
                .to_row = line.find("(P2P Reads)") != line.npos,
                .readable = !bidirectional && line.find("P2P=") != line.npos &&
                            (line.ends_with("(GB/s)") || line.ends_with("(us)"))};
      if (bidirectional) leave_out(out, "the sums over both directions between GPUs");
    }
    if (words.size() > 1 && (words[0] == "D\\D" || words[0] == "GPU")) matrix.rows = 0;
    if (words.size() > 1 && words[0] == "CPU") matrix.readable = false;  // times by the host's clock
    if (!matrix.readable || words.size() < 2 || printed_integer(words[0]) != matrix.rows) continue;
    for (std::size_t column = 0; column + 1 < words.size(); ++column) {
      const auto value = printed_number(words[column + 1]);
      const bool within = column == matrix.rows;
      if (!value || (within && matrix.latency)) continue;
      const bool are_apart = apart.contains({matrix.rows, column});
      const double scale = matrix.latency ? 1e-6 : 1e9 / (within ? read_and_written : 1);
      add_figure(out, {.primitive = within      ? ToolPrimitive::copy_within
                                    : are_apart ? ToolPrimitive::staged_peer_copy
                                                : matrix.primitive,
                       .size = matrix.latency ? std::optional(one_int) : std::nullopt,
                       .value = value->value * scale,
                       .unit = matrix.latency ? ToolUnit::seconds : ToolUnit::bytes_per_second,
                       .rounding = value->rounding * scale,
                       .back_to_back = true,
                       .gpu = matrix.to_row ? column : matrix.rows,
                       .peer = matrix.to_row ? matrix.rows : column});
    }
    ++matrix.rows;
  }
  if (!out.figures.empty()) out.tool = "p2pBandwidthLatencyTest";
  return out;
}

}  // namespace shiplap
