#include "shiplap/report/memory_report.hpp"

#include <fmt/format.h>

namespace shiplap {

std::string memory_report(const MemoryChoice& choice, const TextStyle& style) {
  const std::string runs = choice.runs == 1 ? "1 run" : fmt::format("{} runs", choice.runs);
  Table table{.columns = {{"the arrays", Align::left},
                          {"set-up", Align::right},
                          {"a run", Align::right},
                          {runs, Align::right},
                          {"pays from", Align::right}}};
  for (const MemoryWay& way : choice.ways) {
    const bool changed = way.preparation != Preparation::none;
    table.add({std::string(enum_name(way.preparation)), changed ? to_string(way.setup_time) : "–",
               to_string(way.best.predicted.value), to_string(way.total_time),
               !changed        ? "–"
               : way.pays_from ? fmt::format("{} run{}", *way.pays_from, *way.pays_from == 1 ? "" : "s")
                               : "never"});
  }
  std::string out = fmt::format("memory of the arrays, used for {}\n", runs) + table.text(style, "  ");
  const auto note = [&](const std::string& text) { out += "  " + wrap(text, style.width - 2, "    ") + "\n"; };
  for (const MemoryWay& way : choice.ways)
    note(fmt::format("{}: {}a run is {}", enum_name(way.preparation),
                     way.preparation == Preparation::none ? "" : fmt::format("{}; ", what_is_done(way.preparation)),
                     to_string(way.best.choice)));
  for (const UnknownWay& way : choice.unknown)
    note(fmt::format("{}: left out, {}", enum_name(way.preparation), way.reason));
  return out;
}

}  // namespace shiplap
