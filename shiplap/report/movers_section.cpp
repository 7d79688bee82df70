#include <fmt/format.h>

#include <array>
#include <map>

#include "shiplap/core/quantity_json.hpp"
#include "shiplap/document/table.hpp"
#include "shiplap/report/quantity.hpp"
#include "shiplap/report/sections.hpp"

namespace shiplap::document {
namespace {

struct Kind {
  const char* name;
  const char* label;
};
constexpr std::array kinds{Kind{"copies", "a copy for each block"}, Kind{"batch", "one batch of copies"},
                           Kind{"strided", "strided copy"}, Kind{"kernel", "kernel"}};

/// The rate of the best mover of each kind over the size of a block, of one direction and number of blocks.
struct Rates {
  std::map<std::string, std::map<double, Point>> by_kind;

  void add(const JsonReader& mover, double block) {
    const JsonReader what = mover.at("mover");
    const double rate = positive_quantity_of(mover.at("rate")).value;
    Point point{.x = block, .y = rate};
    if (const auto grid = what.find("grid"); grid && grid->unsigned_integer() > 0)
      point.label = fmt::format("{} thread blocks", grid->unsigned_integer());
    by_kind[what.at("kind").string()].emplace(block, point);  // movers are sorted, the best first
  }

  /// The best rate of a kind for blocks of this size; null where there is none.
  const Point* at(const std::string& kind, double block) const {
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
  for (const Kind& kind : kinds) {
    const auto found = rates.by_kind.find(kind.name);
    if (found == rates.by_kind.end()) continue;
    Series series{.name = kind.label};
    for (const auto& [block, point] : found->second) series.points.push_back(point);
    plot.series.push_back(std::move(series));
  }
  return plot;
}

/// How fast blocks of 4 KiB move in the best way, beside a copy for each; "" where that is not in the file.
std::string small_blocks(const Rates& rates, const std::string& direction, std::uint64_t blocks) {
  constexpr double small = 4096;
  std::string best;
  double rate = 0;
  for (const Kind& kind : kinds) {
    const Point* point = rates.at(kind.name, small);
    if (point == nullptr || point->y <= rate) continue;
    rate = point->y;
    best = kind.label;
    if (!point->label.empty()) best += fmt::format(" ({})", point->label);
  }
  const Point* copies = rates.at("copies", small);
  if (copies == nullptr || best.empty()) return "";
  return fmt::format("{} scattered blocks of 4 KiB, {}: {} moves {}, a copy for each block {}", blocks, direction, best,
                     to_string(Bandwidth{rate}), to_string(Bandwidth{copies->y}));
}

std::string name_of_mover(const JsonReader& mover) {
  const std::string name = mover.at("kind").string();
  std::string label = name;
  for (const Kind& kind : kinds)
    if (name == kind.name) label = kind.label;
  const auto grid = mover.find("grid");
  return grid && grid->unsigned_integer() > 0 ? fmt::format("kernel, {} thread blocks", grid->unsigned_integer())
                                              : label;
}

Table crossovers_of(const JsonReader& crossovers) {
  Table table{.title = "The best mover from a size of a block on",
              .columns = {{"direction"}, {"blocks"}, {"from a block of", Align::automatic, "B"}, {"best mover"}}};
  for (std::size_t i = 0; i < crossovers.size(); ++i) {
    const JsonReader best = crossovers.at(i).at("best");
    for (std::size_t b = 0; b < best.size(); ++b) {
      const auto mover = best.at(b).find("mover");
      const Bytes block = bytes_from_json(best.at(b).at("block"));
      const std::uint64_t blocks = crossovers.at(i).at("blocks").unsigned_integer();
      table.add({crossovers.at(i).at("direction").string(), count_cell(blocks), Cell(to_string(block), in_bytes(block)),
                 mover ? name_of_mover(*mover) : "none within the limit"});
    }
  }
  return table;
}

}  // namespace

Section movers_section(const JsonReader& json, const std::string& source) {
  const std::string profile = json.at("profile").string();
  Section section{.title = fmt::format("Movers of scattered blocks (profile {})", profile), .source = source};
  section.sentences.push_back(
      fmt::format("Blocks of a pool in {} memory move between host and GPU. The rate counts "
                  "the time from the call until the last block has arrived. The grid of a kernel is the smallest that "
                  "takes less than 1 % longer than the best.",
                  json.at("pool").string()));
  std::map<std::pair<std::uint64_t, std::string>, Rates> plots;
  const JsonReader rows = json.at("rows");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const JsonReader row = rows.at(i);
    Rates& rates = plots[{row.at("blocks").unsigned_integer(), row.at("direction").string()}];
    const JsonReader movers = row.at("movers");
    for (std::size_t m = 0; m < movers.size(); ++m) rates.add(movers.at(m), in_bytes(bytes_from_json(row.at("block"))));
  }
  for (auto plot = plots.rbegin(); plot != plots.rend(); ++plot)
    section.figures.emplace_back(plot_of(plot->second, plot->first.second, plot->first.first));
  for (auto plot = plots.rbegin(); plot != plots.rend(); ++plot)
    if (std::string sentence = small_blocks(plot->second, plot->first.second, plot->first.first); !sentence.empty())
      section.headlines.push_back(fmt::format("{}, profile {}.", sentence, profile));
  section.figures.emplace_back(crossovers_of(json.at("crossovers")));
  return section;
}

}  // namespace shiplap::document
