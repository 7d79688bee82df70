// TransferBench (github.com/ROCm/TransferBench): text, and CSV, whose rows are those of the text with commas, below a
// heading of other columns. Older versions have the columns of the heading. A test is a set of transfers that run at
// the same time. GB are 1e9 bytes.
#include <cctype>

#include "shiplap/other_tools/tool_text.hpp"

namespace shiplap {
namespace {

/// Memory as TransferBench names it: a letter and an index, as in "C0" or "G1".
struct TransferEnd {
  MemoryKind memory = MemoryKind::device;
  std::uint64_t index = 0;
  bool is_gpu() const { return memory == MemoryKind::device; }
};
std::optional<TransferEnd> transfer_end(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  const auto index = printed_integer(text.substr(1));
  if (!index) return std::nullopt;  // several memories, or another rank
  switch (text[0]) {
    case 'C':
    case 'B':
      return TransferEnd{MemoryKind::pinned, *index};
    case 'H':
      return TransferEnd{MemoryKind::pageable, *index};
    case 'G':
    case 'F':
      return TransferEnd{MemoryKind::device, *index};
    default:
      return std::nullopt;  // no memory, a letter whose meaning changed, or P: host memory by the number of a GPU
  }
}

struct Transfer {
  std::optional<TransferEnd> from{};
  std::optional<TransferEnd> to{};
  bool by_copy_engine = false;
  PrintedNumber rate{};
  Bytes size{};
};

/// "D0:1", "D000:001" or "DMA00.*:001": the copy engines of a GPU.
bool is_copy_engine(std::string_view executor) {
  if (executor.starts_with("DMA")) executor.remove_prefix(2);
  return executor.size() > 1 && (executor[0] == 'D' || executor[0] == 'A') &&
         std::isdigit(static_cast<unsigned char>(executor[1])) != 0;
}

/// The number in "12.3 GB/s" or "1024 bytes".
std::string_view number_in(std::string_view cell, std::string_view unit) {
  return cell.ends_with(unit) ? trimmed(cell.substr(0, cell.size() - unit.size())) : std::string_view();
}

/// A row of "Transfer 0", rate, time, bytes, and "C0 -> D0:1 -> G0".
std::optional<Transfer> transfer_row(const std::vector<std::string_view>& cells) {
  if (cells.size() < 5) return std::nullopt;
  const auto rate = printed_number(number_in(cells[1], "GB/s"));
  const auto size = printed_integer(number_in(cells[3], "bytes"));
  const auto way = parts_of(cells[4], "->");
  if (!rate || !size || way.size() != 3) return std::nullopt;
  return Transfer{transfer_end(way[0]), transfer_end(way[2]), is_copy_engine(way[1]), *rate, Bytes{*size}};
}

/// A row of older versions: test, transfer, bytes, source, executor, destination, sub-executors, rate, time.
std::optional<Transfer> old_transfer_row(const std::vector<std::string_view>& cells) {
  if (cells.size() < 9 || !printed_integer(cells[0]) || !printed_integer(cells[1])) return std::nullopt;
  const auto size = printed_integer(cells[2]);
  const auto rate = printed_number(cells[7]);
  if (!size || !rate) return std::nullopt;
  return Transfer{transfer_end(cells[3]), transfer_end(cells[5]), is_copy_engine(cells[4]), *rate, Bytes{*size}};
}

std::optional<ToolFigure> figure_of(const Transfer& transfer) {
  if (!transfer.from || !transfer.to || !transfer.by_copy_engine) return std::nullopt;
  const TransferEnd& from = *transfer.from;
  const TransferEnd& to = *transfer.to;
  ToolFigure figure{.size = transfer.size,
                    .value = transfer.rate.value * 1e9,
                    .rounding = transfer.rate.rounding * 1e9,
                    .gpu = from.is_gpu() ? from.index : to.index};
  if (from.is_gpu() && to.is_gpu()) {
    figure.primitive = from.index == to.index ? ToolPrimitive::copy_within : ToolPrimitive::peer_copy;
    figure.direction = CopyDirection::device_to_device;
    figure.peer = to.index;
    return figure;
  }
  if (!from.is_gpu() && !to.is_gpu()) return std::nullopt;
  const TransferEnd& host = from.is_gpu() ? to : from;
  figure.direction = from.is_gpu() ? CopyDirection::device_to_host : CopyDirection::host_to_device;
  figure.memory = host.memory;
  figure.numa_node = host.index;
  return figure;
}

/// Adds the transfers of one test: one alone, or one in each direction of a link.
void add_test(const std::vector<Transfer>& transfers, ToolOutput& out) {
  std::vector<ToolFigure> figures;
  for (const Transfer& transfer : transfers)
    if (const auto figure = figure_of(transfer)) figures.push_back(*figure);
  if (figures.size() != transfers.size())
    return leave_out(out, "transfers by kernels or threads, or of memory that has no figure in a profile");
  if (figures.size() == 2 && figures[0].primitive == ToolPrimitive::copy &&
      figures[1].primitive == ToolPrimitive::copy && figures[0].direction != figures[1].direction &&
      figures[0].gpu == figures[1].gpu && figures[0].numa_node == figures[1].numa_node)
    for (ToolFigure& figure : figures) figure.primitive = ToolPrimitive::duplex_copy;
  else if (figures.size() > 1)
    return leave_out(out, "transfers that run while others do");
  for (ToolFigure& figure : figures) add_figure(out, figure);
}

}  // namespace

ToolOutput read_transfer_bench(std::string_view text) {
  ToolOutput out;
  std::vector<Transfer> test;
  std::string_view number;  // number of the test, in older versions
  bool broken_off = false;  // whether a row of the test cannot be read, so that what the others ran beside is unknown
  const auto end_test = [&] {
    if (!test.empty() && !broken_off) add_test(test, out);
    test.clear();
    broken_off = false;
  };
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with("TransferBench v")) out.tool = "TransferBench " + std::string(words_of(line)[1]);
    if (line.starts_with("Test#,Transfer#") && out.tool.empty()) out.tool = "TransferBench";
    const std::string_view separator = line.find("│") != line.npos ? "│" : line.find('|') != line.npos ? "|" : ",";
    const auto cells = parts_of(line, separator);
    if (line.starts_with("Test ")) end_test();
    if (cells[0].starts_with("Aggregate")) end_test();
    if (cells[0].starts_with("Executor:") && out.tool.empty()) out.tool = "TransferBench";
    if (cells[0].starts_with("Transfer ")) {
      const auto transfer = transfer_row(cells);
      if (transfer) test.push_back(*transfer);
      broken_off = broken_off || !transfer;
    } else if (const auto transfer = old_transfer_row(cells); transfer && !out.tool.empty()) {
      if (cells[0] != number) end_test();
      number = cells[0];
      test.push_back(*transfer);
    }
  }
  // Without its last line a test may lack transfers. Rows of older versions have none.
  if (!number.empty()) end_test();
  return out;
}

}  // namespace shiplap
