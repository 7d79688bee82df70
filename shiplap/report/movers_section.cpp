#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>

#include "shiplap/core/enum_names.hpp"
#include "shiplap/report/movers_report.hpp"
#include "shiplap/report/quantity.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::document {
namespace {

using MoverKind = Mover::Kind;
constexpr std::array kinds{std::pair{MoverKind::copies, "a copy for each block"sv},
                           std::pair{MoverKind::batch, "one batch of copies"sv},
                           std::pair{MoverKind::strided, "strided copy"sv}, std::pair{MoverKind::kernel, "kernel"sv}};

std::string name_of_mover(const Mover& mover) {
  return mover.kind == MoverKind::kernel ? fmt::format("kernel, {} thread blocks", mover.grid)
                                         : std::string(name_in(kinds, mover.kind));
}

std::string direction_of(bool to_device) { return to_device ? "H2D" : "D2H"; }

/// The rate of the best mover of each kind over the size of a block, of one direction and number of blocks.
struct Rates {
  std::map<MoverKind, std::map<double, Point>> by_kind;

  void add(const MoverTime& m, Bytes block) {
    Point point{.x = in_bytes(block), .y = m.rate.bytes_per_second};
    if (m.mover.grid > 0) point.label = fmt::format("{} thread blocks", m.mover.grid);
    by_kind[m.mover.kind].emplace(point.x, point);  // movers are sorted, the best first
  }

  /// The best rate of a kind for blocks of this size; null where there is none.
  const Point* at(MoverKind kind, double block) const {
    const auto rates = by_kind.find(kind);
    if (rates == by_kind.end()) return nullptr;
    const auto found = rates->second.find(block);
    return found == rates->second.end() ? nullptr : &found->second;
  }
};

Plot plot_of(const Rates& rates, const std::string& direction, std::uint64_t blocks) {
  Plot plot{.title = fmt::format("{} blocks, {}", blocks, direction),
            .x = {.label = "size of a block", .unit = "B", .logarithmic = true},
            .y = {.label = "rate", .unit = "B/s"}};
  for (const auto& [kind, label] : kinds) {
    const auto found = rates.by_kind.find(kind);
    if (found == rates.by_kind.end()) continue;
    Series series{.name = std::string(label), .thing = std::string(name_of(kind))};
    for (const auto& [block, point] : found->second) series.points.push_back(point);
    plot.series.push_back(std::move(series));
  }
  return plot;
}

/// How fast blocks of 4 KiB move in the best way, beside a copy for each; nullopt where that is not in the file.
std::optional<Headline> small_blocks(const Rates& rates, const std::string& direction, std::uint64_t blocks,
                                     const std::string& profile) {
  constexpr double small = 4096;
  std::string best;
  double rate = 0;
  for (const auto& [kind, label] : kinds) {
    const Point* point = rates.at(kind, small);
    if (point == nullptr || point->y <= rate) continue;
    rate = point->y;
    best = label;
    if (!point->label.empty()) best += fmt::format(" ({})", point->label);
  }
  const Point* copies = rates.at(MoverKind::copies, small);
  if (copies == nullptr || best.empty()) return std::nullopt;
  const std::string fast = to_string(Bandwidth{rate});
  const std::string slow = to_string(Bandwidth{copies->y});
  return Headline{
      .sentence = fmt::format("{} scattered blocks of 4 KiB, {}: {} moves {}, a copy for each block {}, profile {}.",
                              blocks, direction, best, fast, slow, profile),
      .numbers = {{fast, fmt::format("{} by {}", direction, best)}, {slow, direction + " by a copy for each block"}}};
}

Table crossovers_of(const std::vector<Crossovers>& all) {
  Table table{.title = "The best mover from a size of a block on",
              .columns = {{"direction"}, {"blocks"}, {"from a block of", Align::automatic, "B"}, {"best mover"}}};
  for (const Crossovers& found : all)
    for (const MoverFrom& from : found.best)
      table.add({direction_of(found.to_device), count_cell(found.blocks),
                 Cell(to_string(from.block), in_bytes(from.block)),
                 from.mover ? name_of_mover(*from.mover) : "none within the limit"});
  return table;
}

}  // namespace

Section movers_section(const MoverTable& table, const std::string& source) {
  const std::string profile = table.profile_origin == to_string(Origin::measured)
                                  ? table.profile
                                  : fmt::format("{}, {}", table.profile, table.profile_origin);
  Section section{.title = fmt::format("Movers of scattered blocks (profile {})", profile), .source = source};
  section.sentences.push_back(
      fmt::format("Blocks of a pool in {} memory move between host and GPU. The rate counts "
                  "the time from the call until the last block has arrived. The grid of a kernel is the smallest that "
                  "takes less than 1 % longer than the best.",
                  to_string(table.question.pool)));
  std::map<std::pair<std::uint64_t, std::string>, Rates> plots;
  for (const MoverRow& row : table.rows)
    for (const MoverTime& m : row.movers)
      plots[{row.set.blocks, direction_of(row.set.to_device)}].add(m, row.set.block);
  for (auto plot = plots.rbegin(); plot != plots.rend(); ++plot)
    section.figures.emplace_back(plot_of(plot->second, plot->first.second, plot->first.first));
  for (auto plot = plots.rbegin(); plot != plots.rend(); ++plot)
    if (const auto headline = small_blocks(plot->second, plot->first.second, plot->first.first, profile))
      section.headlines.push_back(*headline);
  section.figures.emplace_back(crossovers_of(table.crossovers));
  return section;
}

}  // namespace shiplap::document
