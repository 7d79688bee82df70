// nvbandwidth (github.com/NVIDIA/nvbandwidth, 0.1 to 0.10): text, and JSON from 0.5 on. A test is a name, a description
// with the unit, and a matrix with a row per source or a single one. 1 GB is 1e9 bytes. Copies are repeated in a row.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "shiplap/core/json.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/other_tools/tool_text.hpp"

namespace shiplap {
namespace {

using Row = std::vector<std::optional<PrintedNumber>>;

struct Test {
  std::string_view name;
  ToolPrimitive primitive;
  CopyDirection direction = CopyDirection::host_to_device;
};
constexpr std::array tests{
    Test{"host_to_device_memcpy_ce", ToolPrimitive::copy},
    Test{"device_to_host_memcpy_ce", ToolPrimitive::copy, CopyDirection::device_to_host},
    Test{"host_to_device_bidirectional_memcpy_ce", ToolPrimitive::duplex_copy},
    Test{"device_to_host_bidirectional_memcpy_ce", ToolPrimitive::duplex_copy, CopyDirection::device_to_host},
    Test{"device_local_copy", ToolPrimitive::copy_within},
    Test{"device_to_device_memcpy_read_ce", ToolPrimitive::peer_copy},
    Test{"device_to_device_memcpy_write_ce", ToolPrimitive::peer_copy}};

/// The default size of a copy. A smaller one is not printed, but a remark says that it is smaller.
Bytes buffer_size(std::string_view version) {
  const std::string_view number = version.substr(std::min(version.find("0."), version.size()));
  const auto minor = printed_integer(
      number.substr(0, number.find_first_not_of("0123456789", 2)).substr(std::min<std::size_t>(2, number.size())));
  return minor && *minor >= 7 ? 512_MiB : 64_MiB;
}
constexpr std::string_view smaller_buffer = "smaller than the default buffer size";

void add_matrix(std::string_view name, std::string_view description, const std::vector<Row>& rows,
                std::optional<Bytes> size, ToolOutput& out) {
  const auto test = std::ranges::find(tests, name, &Test::name);
  if (test == tests.end() || description.find("(GB/s)") == description.npos) return leave_out(out, name);
  // Tests that read copy from the GPU of the column to that of the row. The arrows that versions print say the
  // opposite.
  const bool to_row = name.find("_read_") != name.npos;
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t column = 0; column < rows[row].size(); ++column) {
      if (!rows[row][column]) continue;
      const bool between_gpus = test->primitive == ToolPrimitive::peer_copy;
      if (between_gpus ? row == column : row != 0) continue;
      add_figure(out, {.primitive = test->primitive,
                       .direction = test->direction,
                       .size = size,
                       .value = rows[row][column]->value * 1e9,
                       .rounding = rows[row][column]->rounding * 1e9,
                       .back_to_back = true,
                       .gpu = between_gpus && !to_row ? row : column,
                       .peer = between_gpus && to_row ? row : column});
    }
}

/// The numbers of the columns above a matrix.
bool is_heading(const std::vector<std::string_view>& words) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (printed_integer(words[i]) != i) return false;
  return !words.empty();
}

std::optional<Row> row_of(const std::vector<std::string_view>& words, std::size_t number, std::size_t columns) {
  if (words.size() != columns + 1 || printed_integer(words[0]) != number) return std::nullopt;
  Row row;
  for (std::size_t i = 1; i < words.size(); ++i) {
    row.push_back(printed_number(words[i]));
    if (!row.back() && words[i] != "N/A") return std::nullopt;
  }
  return row;
}

/// The name of the GPU in "NVIDIA H200 (00000000:06:00): (host)".
std::string_view gpu_in(std::string_view text) { return text.substr(0, text.find('(')); }

std::string tool_of(std::string_view version) {
  return version.empty() ? "nvbandwidth" : "nvbandwidth " + printable(version, 20);
}

}  // namespace

ToolOutput read_nvbandwidth(std::string_view text) {
  ToolOutput out;
  const std::vector<std::string_view> lines = lines_of(text);
  std::optional<Bytes> size = 64_MiB;
  std::string_view test;
  std::string version;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (const auto printed = between(lines[i], "nvbandwidth Version:", "")) {
      version = *printed;
      size = buffer_size(version);
    }
    if (lines[i].find(smaller_buffer) != std::string_view::npos) {
      size = std::nullopt;
      leave_out(out, "the size of its buffer, which is smaller than the default");
    }
    if (lines[i].starts_with("Driver Version:")) out.conditions["gpu.driver"] = printable(*between(lines[i], ":", ""));
    if (lines[i].starts_with("Device "))
      if (const auto index = between(lines[i], "Device ", ":"); index && printed_integer(*index))
        name_gpu(out, *printed_integer(*index), gpu_in(lines[i].substr(lines[i].find(':') + 1)));
    if (lines[i].starts_with("Running ") && lines[i].ends_with(".")) test = lines[i].substr(8, lines[i].size() - 9);
    if (test.empty() || !is_heading(words_of(lines[i])) || i == 0) continue;
    const std::size_t columns = words_of(lines[i]).size();
    const std::string_view description = lines[i - 1];
    std::vector<Row> rows;
    while (i + 1 < lines.size()) {
      const auto row = row_of(words_of(lines[i + 1]), rows.size(), columns);
      if (!row) break;
      rows.push_back(*row);
      ++i;
    }
    out.tool = tool_of(version);
    add_matrix(test, description, rows, size, out);
    test = {};
  }
  return out;
}

ToolOutput read_nvbandwidth(const Json& json) {
  ToolOutput out{.tool = tool_of({})};
  const Json& root = json.at("nvbandwidth");
  if (!root.is_object()) return out;
  const auto text = [](const Json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const std::string version = text(root, "version");
  out.tool = tool_of(version);
  if (const std::string driver = text(root, "Driver Version"); !driver.empty()) out.conditions["gpu.driver"] = driver;
  std::optional<Bytes> size = buffer_size(version);
  if (text(root, "warning").find(smaller_buffer) != std::string::npos) {
    size = std::nullopt;
    leave_out(out, "the size of its buffer, which is smaller than the default");
  }
  for (const char* key : {"GPU Device list", "GPU Device info"})
    if (root.contains(key) && root.at(key).is_array())
      for (const Json& device : root.at(key)) {
        if (!device.is_string()) continue;
        const std::string& printed = device.get_ref<const std::string&>();  // "0: NVIDIA H200 (00000000:06:00): (host)"
        const auto index = printed_integer(std::string_view(printed).substr(0, printed.find(':')));
        if (index) name_gpu(out, *index, gpu_in(std::string_view(printed).substr(printed.find(':') + 1)));
      }
  if (!root.contains("testcases") || !root.at("testcases").is_array()) return out;
  for (const Json& test : root.at("testcases")) {
    if (!test.is_object() || !test.contains("bandwidth_matrix") || !test.at("bandwidth_matrix").is_array()) continue;
    std::vector<Row> rows;
    for (const Json& line : test.at("bandwidth_matrix")) {
      Row row;
      for (const Json& cell : line)
        row.push_back(cell.is_string()   ? printed_number(cell.get_ref<const std::string&>())
                      : cell.is_number() ? std::optional(PrintedNumber{cell.get<double>(), 0})
                                         : std::nullopt);
      rows.push_back(std::move(row));
    }
    add_matrix(text(test, "name"), text(test, "bandwidth_description"), rows, size, out);
  }
  return out;
}

}  // namespace shiplap
