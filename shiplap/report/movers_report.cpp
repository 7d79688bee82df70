#include "shiplap/report/movers_report.hpp"

#include <fmt/format.h>

#include <algorithm>

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

std::string limits_text(const MoverLimits& limits) {
  std::string text;
  if (limits.neighbour)
    text = fmt::format(
        "Times are those beside a neighbour, which is a kernel that fills the GPU. Device memory bounds it by "
        "{}, and one of its thread blocks takes {}.\n",
        percent(limits.neighbour->memory_bound), to_string(limits.neighbour->thread_block));
  else
    text =
        "Times are those on an idle GPU. A neighbour, which is a kernel that fills the GPU, loses at most what the "
        "last "
        "column says.\n";
  if (limits.max_slowdown) text += fmt::format("The neighbour may lose at most {}.\n", percent(*limits.max_slowdown));
  return text;
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

std::string movers_report(const MoverTable& table, const TextStyle& style) {
  std::string out = fmt::format("Movers of scattered blocks, a pool in {} memory, profile {} ({})\n",
                                to_string(table.question.pool), table.profile, table.profile_hash);
  out += wrap(limits_text(table.question.limits), style.width) + "\n";
  for (auto row = table.rows.begin(); row != table.rows.end();) {
    Table rows{.columns = {{"block", Align::right},
                           {"best", Align::left},
                           {"time", Align::right},
                           {"rate", Align::right},
                           {"next", Align::left},
                           {"rate", Align::right},
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
