#include "shiplap/report/movers_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace shiplap {
namespace {

/// The number with a comma before each group of three digits.
std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string subject(bool to_device, std::uint64_t blocks) {
  return fmt::format("{}, {} block{}", to_device ? "H2D" : "D2H", grouped(blocks), blocks == 1 ? "" : "s");
}

std::string rate_of(const MoverTime& m, const BlockSet& set) { return to_string(set.block * set.blocks / m.time); }

/// The best mover of another kind than the best one. Another grid of the same kernel tells little.
const MoverTime* runner_up(const MoverRow& row) {
  const auto found = std::ranges::find_if(
      row.movers, [&](const MoverTime& m) { return m.mover.kind != row.movers.front().mover.kind; });
  return found == row.movers.end() ? nullptr : &*found;
}

void add_row(Table& table, const MoverRow& row) {
  if (row.movers.empty()) {
    table.add({to_string(row.set.block), "none within the limit"});
    return;
  }
  const MoverTime& best = row.movers.front();
  const MoverTime* next = runner_up(row);
  table.add({to_string(row.set.block), to_string(best.mover), to_string(best.time), rate_of(best, row.set),
             next != nullptr ? to_string(next->mover) : "–", next != nullptr ? rate_of(*next, row.set) : "–",
             to_string(best.call / static_cast<double>(row.set.blocks)), percent(best.slowdown)});
}

std::string limits_text(const MoverLimits& limits, document::Detail detail) {
  std::string text;
  if (limits.neighbour)
    text = fmt::format(
        "Times are those concurrent with a neighbour, which is a kernel that fills the GPU. Device memory bounds it by "
        "{}, and one of its thread blocks takes {}.",
        percent(limits.neighbour->memory_bound), to_string(limits.neighbour->thread_block));
  else
    text =
        detail == document::Detail::all
            ? "Times are those on an idle GPU. A neighbour, which is a kernel that fills the GPU, loses at most what "
              "the last column says."
            : "Times are those on an idle GPU; --all has every number of blocks, the grids, and what a neighbour "
              "loses, which is a kernel that fills the GPU.";
  if (limits.max_slowdown) text += fmt::format(" The neighbour may lose at most {}.", percent(*limits.max_slowdown));
  return text;
}

/// A mover of one kind, for the sizes of a block up to `until`.
struct KindUntil {
  std::optional<Mover::Kind> kind;  ///< nullopt: no mover is within the limit
  std::uint32_t least_grid = 0;
  std::uint32_t largest_grid = 0;
  std::optional<Bytes> until{};  ///< nullopt: all larger blocks
};

/// The kinds of the best movers from small blocks to large ones.
std::vector<KindUntil> kinds_by_size(const Crossovers& found) {
  std::vector<KindUntil> kinds;
  for (const MoverFrom& from : found.best) {
    const std::optional<Mover::Kind> kind = from.mover ? std::optional(from.mover->kind) : std::nullopt;
    const std::uint32_t grid = from.mover ? from.mover->grid : 0;
    if (kinds.empty() || kinds.back().kind != kind) {
      if (!kinds.empty()) kinds.back().until = from.block;
      kinds.push_back({kind, grid, grid});
    }
    kinds.back().least_grid = std::min(kinds.back().least_grid, grid);
    kinds.back().largest_grid = std::max(kinds.back().largest_grid, grid);
  }
  return kinds;
}

std::string name_of_kind(const KindUntil& one, bool with_grid) {
  if (!one.kind) return "none within the limit";
  if (*one.kind != Mover::Kind::kernel || !with_grid) return std::string(name_of(*one.kind));
  return one.least_grid == one.largest_grid
             ? to_string(Mover{Mover::Kind::kernel, one.least_grid})
             : fmt::format("kernel of {} to {} blocks", one.least_grid, one.largest_grid);
}

/// "kernel of 4 to 8 blocks up to 288 KiB, batch above". More than three changes are not told one by one.
std::string kinds_of(const Crossovers& found, bool with_grid = true) {
  const std::vector<KindUntil> kinds = kinds_by_size(found);
  if (kinds.size() == 1) return name_of_kind(kinds.front(), with_grid);
  if (constexpr std::size_t most = 3; kinds.size() > most) {
    std::vector<std::string> names;
    for (const KindUntil& one : kinds)
      if (const std::string name = name_of_kind(one, with_grid); std::ranges::find(names, name) == names.end())
        names.push_back(name);
    return fmt::format("{}, in turn", fmt::join(names, " or "));
  }
  std::string text;
  for (const KindUntil& one : kinds)
    text += one.until ? fmt::format("{} up to {}, ", name_of_kind(one, with_grid), to_string(*one.until))
                      : name_of_kind(one, with_grid) + " above";
  return text;
}

/// The fastest mover by the size of a block. Unless all is asked for, the table fits on a screen: of many numbers of
/// blocks every other one is left out, and so are the grids of kernels.
Table by_size_of_block(const std::vector<Crossovers>& all, bool shows_all) {
  constexpr std::size_t few = 12;
  const bool skips = !shows_all && all.size() > few;
  Table table{.columns = {{"direction", Align::left}, {"blocks", Align::right}, {"fastest, by the size of a block"}}};
  std::uint64_t first = 0, last = 0;
  std::string kinds;
  bool to_device = false;
  const auto finish = [&] {
    if (last > 0)
      table.add({to_device ? "H2D" : "D2H",
                 first == last ? grouped(last) : fmt::format("{} to {}", grouped(first), grouped(last)), kinds});
    last = 0;
  };
  std::size_t at = 0;
  for (const Crossovers& found : all) {
    at = last > 0 && found.to_device == to_device ? at + 1 : 0;
    if (skips && at % 2 == 1) continue;
    const std::string now = kinds_of(found, shows_all);
    if (last == 0 || found.to_device != to_device || now != kinds) {
      finish();
      first = found.blocks;
    }
    to_device = found.to_device;
    kinds = now;
    last = found.blocks;
  }
  finish();
  return table;
}

/// What moves this number of blocks fastest, at which rates, and how much faster than one batch; "" without an answer.
std::string answer_for(const MoverTable& table, std::uint64_t blocks, bool to_device) {
  const auto found = std::ranges::find_if(
      table.crossovers, [&](const Crossovers& c) { return c.blocks == blocks && c.to_device == to_device; });
  if (found == table.crossovers.end()) return "";
  std::string answer =
      fmt::format("{} blocks {}: {}", grouped(blocks), to_device ? "to the GPU" : "back", kinds_of(*found));
  std::vector<double> rates;
  double gain = 1;
  for (const MoverRow& row : table.rows) {
    if (row.set.blocks != blocks || row.set.to_device != to_device || row.movers.empty()) continue;
    rates.push_back((row.set.block * row.set.blocks / row.movers.front().time).bytes_per_second);
    for (const MoverTime& m : row.movers)
      if (m.mover.kind == Mover::Kind::batch) gain = std::max(gain, m.time / row.movers.front().time);
  }
  if (rates.empty()) return answer + ".";
  const auto rounded = [](double x) { return fmt::format("{:.{}f}", x, x < 9.95 ? 1 : 0); };
  answer +=
      fmt::format(" ({} to {} GB/s", rounded(std::ranges::min(rates) / 1e9), rounded(std::ranges::max(rates) / 1e9));
  if (gain > 1.05) answer += fmt::format(", up to {} times one batch", rounded(gain));
  return answer + ").";
}

}  // namespace

std::string to_string(const Crossovers& found) {
  std::string text = subject(found.to_device, found.blocks) + ": ";
  for (std::size_t i = 0; i < found.best.size(); ++i) {
    text += (i > 0 ? ", " : "") + (found.best[i].mover ? to_string(*found.best[i].mover) : "none");
    if (i + 1 < found.best.size())
      text += (i == 0 ? " below " : " up to ") + to_string(found.best[i + 1].block);
    else
      text += i == 0 ? " at all sizes" : " above";
  }
  return text;
}

std::string movers_report(const MoverTable& table, const TextStyle& style, document::Detail detail) {
  std::string out;
  for (const bool to_device : {true, false})
    if (const std::string answer = answer_for(table, table.question.counts.front(), to_device); !answer.empty())
      out += wrap(answer, style.width, "  ") + "\n";
  out += wrap(fmt::format("A pool in {} memory, profile {} ({}). {}", to_string(table.question.pool), table.profile,
                          table.profile_hash, limits_text(table.question.limits, detail)),
              style.width) +
         "\n";
  out += "\n" + by_size_of_block(table.crossovers, detail == document::Detail::all).text(style);
  if (detail != document::Detail::all) return out;
  for (auto row = table.rows.begin(); row != table.rows.end();) {
    Table rows{.columns = {{"block", Align::right},
                           {"best", Align::left},
                           {"time", Align::right},
                           {"rate", Align::right},
                           {"next", Align::left},
                           {"its rate", Align::right},
                           {"host/block", Align::right},
                           {"neighbour loses", Align::right}}};
    const BlockSet& set = row->set;
    for (; row != table.rows.end() && row->set.blocks == set.blocks && row->set.to_device == set.to_device; ++row)
      add_row(rows, *row);
    out += fmt::format("\n{}\n{}", bold(subject(set.to_device, set.blocks), style), rows.text(style, "  "));
  }
  out += "\n" + bold("crossovers", style) + "\n";
  for (const Crossovers& found : table.crossovers) out += "  " + wrap(to_string(found), style.width - 2, "    ") + "\n";
  return out;
}

}  // namespace shiplap
