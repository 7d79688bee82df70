#include "shiplap/other_tools/tool_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "shiplap/core/formats.hpp"
#include "shiplap/core/printable.hpp"

namespace shiplap {
namespace {

constexpr std::string_view blanks = " \t\r";
constexpr std::size_t longest_name = 100;
/// Different texts of what is left out, beyond which no more are kept.
constexpr std::size_t most_left_out = 100;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 50U;

/// Rates and times that some node may have.
bool is_plausible(const ToolFigure& f) {
  constexpr double slowest = 1e3;
  constexpr double fastest = 1e15;
  constexpr double shortest = 1e-9;
  constexpr double longest = 1e4;
  return f.unit == ToolUnit::bytes_per_second ? f.value >= slowest && f.value <= fastest
                                              : f.value >= shortest && f.value <= longest;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(blanks), text.size());
  text.remove_prefix(first);
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  lines.reserve(static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(trimmed(text.substr(at, end - at)));
    at = end + 1;
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(blanks); at < line.size();) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(blanks, end);
  }
  return words;
}

std::vector<std::string_view> parts_of(std::string_view line, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(separator, at), line.size());
    parts.push_back(trimmed(line.substr(at, end - at)));
    at = end + separator.size();
  }
  return parts;
}

std::optional<std::string_view> between(std::string_view line, std::string_view begin, std::string_view end) {
  const std::size_t at = line.find(begin);
  if (at == line.npos) return std::nullopt;
  line.remove_prefix(at + begin.size());
  const std::size_t stop = end.empty() ? line.size() : line.find(end);
  if (stop == line.npos) return std::nullopt;
  return trimmed(line.substr(0, stop));
}

std::optional<PrintedNumber> printed_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
    return std::nullopt;
  const std::size_t exponent = std::min(text.find_first_of("eE"), text.size());
  const std::size_t point = text.find('.');
  const auto decimals = static_cast<double>(point == text.npos ? 0 : exponent - point - 1);
  return PrintedNumber{value, exponent < text.size() ? 0 : std::pow(10.0, -decimals) / 2};
}

std::optional<std::uint64_t> printed_integer(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void add_figure(ToolOutput& out, ToolFigure figure) {
  const bool has_size = !figure.size || (figure.size->count > 0 && figure.size->count <= most_bytes);
  const bool known = figure.gpu < limits::gpus && figure.peer < limits::gpus && figure.numa_node < limits::gpus;
  if (has_size && known && is_plausible(figure)) out.figures.push_back(figure);
}

void leave_out(ToolOutput& out, std::string_view what) {
  std::string text = printable(what, longest_name);
  if (out.left_out.size() < most_left_out && std::ranges::find(out.left_out, text) == out.left_out.end())
    out.left_out.push_back(std::move(text));
}

void name_gpu(ToolOutput& out, std::uint64_t index, std::string_view name) {
  if (index >= limits::gpus || trimmed(name).empty()) return;
  out.gpus.resize(std::max<std::size_t>(out.gpus.size(), index + 1));
  out.gpus[index] = printable(trimmed(name), longest_name);
}

}  // namespace shiplap
