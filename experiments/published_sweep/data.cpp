#include "experiments/published_sweep/data.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "shiplap/core/error.hpp"
#include "shiplap/core/text_file.hpp"

namespace shiplap::experiments::published_sweep {
namespace {

constexpr std::string_view with_calls = "Calls,Size,NUM_STREAMS,Time";
constexpr std::string_view without_calls = "Size,NUM_STREAMS,Time";

/// A line of a file, for error messages.
struct FileLine {
  const std::string& source;
  std::size_t line = 0;

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("{}, line {}: {}", source, line, what));
  }
};

std::vector<std::string_view> cells_of(std::string_view row) {
  std::vector<std::string_view> out;
  for (;;) {
    const auto comma = row.find(',');
    out.push_back(row.substr(0, comma));
    if (comma == std::string_view::npos) return out;
    row.remove_prefix(comma + 1);
  }
}

std::uint64_t count_of(std::string_view cell, std::string_view column, std::uint64_t most, const FileLine& place) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc{} || end != cell.data() + cell.size() || value == 0 || value > most)
    place.fail(fmt::format("{} is \"{}\", expected a whole number from 1 to {}", column, cell, most));
  return value;
}

Seconds time_of(std::string_view cell, const FileLine& place) {
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc{} || end != cell.data() + cell.size() || !(value > 0) || !std::isfinite(value))
    place.fail(fmt::format("Time is \"{}\", expected a positive number of seconds", cell));
  return Seconds{value};
}

PublishedPoint point_of(std::string_view row, std::size_t columns, const FileLine& place) {
  const auto cells = cells_of(row);
  if (cells.size() != columns)
    place.fail(fmt::format("{} cell(s), expected {} as in the header", cells.size(), columns));
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  const std::size_t first = columns - 3;  // the first cell after Calls
  PublishedPoint point;
  if (first > 0) point.calls = static_cast<std::uint32_t>(count_of(cells[0], "Calls", most, place));
  point.size = count_of(cells[first], "Size", std::uint64_t{1} << 40, place);
  point.streams = static_cast<std::uint32_t>(count_of(cells[first + 1], "NUM_STREAMS", most, place));
  point.time = time_of(cells[first + 2], place);
  if (point.size % point.streams != 0)
    place.fail(fmt::format("{} streams do not divide {} elements", point.streams, point.size));
  return point;
}

}  // namespace

PublishedData parse_published(std::string_view text, const std::string& source) {
  PublishedData data{.name = std::filesystem::path(source).filename().string(), .points = {}};
  std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>> seen;
  FileLine place{source};
  std::size_t columns = 0;
  while (!text.empty()) {
    const auto newline = text.find('\n');
    std::string_view row = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    if (row.ends_with('\r')) row.remove_suffix(1);
    ++place.line;
    if (row.starts_with('#')) continue;
    if (columns == 0) {
      if (row != with_calls && row != without_calls)
        place.fail(fmt::format("the header is \"{}\", expected \"{}\" or \"{}\"", row, with_calls, without_calls));
      columns = cells_of(row).size();
      continue;
    }
    data.points.push_back(point_of(row, columns, place));
    const PublishedPoint& p = data.points.back();
    if (!seen.emplace(p.calls, p.size, p.streams).second)
      place.fail(fmt::format("{} call(s), {} elements in {} stream(s) were there already", p.calls, p.size, p.streams));
  }
  if (data.points.empty()) throw Error(source + ": no measurements, expected rows below a header");
  return data;
}

PublishedData load_published(const std::filesystem::path& path) {
  return parse_published(read_text_file(path), path.string());
}

}  // namespace shiplap::experiments::published_sweep
