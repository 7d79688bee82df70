#include "experiments/eth2025/figures.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

namespace shiplap::experiments::eth {
namespace {

std::string note_of(const Heading& heading, std::span<const Sweep> sweeps) {
  const std::string missing = missing_of(sweeps);
  if (missing.empty()) return heading.note;
  return heading.note + (heading.note.empty() ? "" : " ") + "Not there: " + missing + ".";
}

/// Notes on sweeps whose ideal overlap is not that of the whole kernel.
std::string ideal_overlap_notes(std::span<const Sweep> sweeps) {
  std::string text;
  for (const Sweep& s : sweeps)
    if (!s.ideal_overlap_note.empty()) text += fmt::format(" {}: {}.", s.of, s.ideal_overlap_note);
  return text;
}

/// Text of a number, 2^29 rather than 536870912.
std::string label(std::uint64_t of) {
  return of >= 1 << 19 && std::has_single_bit(of) ? fmt::format("2^{}", std::countr_zero(of)) : fmt::format("{}", of);
}

}  // namespace

Heading heading(const Bench& bench, std::string id, std::string where, std::string title, std::string note) {
  if (bench.info.is_virtual) {
    title += " (simulated)";
    note += (note.empty() ? "" : " ") + simulated_note(bench);
  }
  return {.id = std::move(id), .where = std::move(where), .title = std::move(title), .note = std::move(note)};
}

Figure empty_figure(const Heading& h) {
  return {.id = h.id, .where = h.where, .title = h.title, .columns = {}, .rows = {}, .note = h.note};
}

Figure speedups(const Heading& heading, const Column& of, std::span<const Sweep> sweeps,
                std::span<const std::uint32_t> streams) {
  Figure figure = empty_figure(heading);
  figure.columns = {of};
  figure.note = note_of(heading, sweeps);
  for (const std::uint32_t s : streams) figure.columns.push_back({fmt::format("in {}", s), ""});
  for (const Sweep& sweep : sweeps) {
    auto& row = figure.rows.emplace_back();
    row.emplace_back(label(sweep.of));
    for (const std::uint32_t s : streams) row.push_back(cell(sweep.speedup(s)));
  }
  return figure;
}

Figure bests(const Heading& heading, const Column& of, std::span<const Sweep> sweeps,
             std::span<const PublishedBest> published) {
  Figure figure = empty_figure(heading);
  figure.columns = {of,
                    {"one stream", "ms"},
                    {"best", "ms"},
                    {"in streams", ""},
                    {"speed-up", ""},
                    {"published speed-up", ""},
                    {"published streams", ""},
                    {"plan's choice", ""},
                    {"its time", "ms"},
                    {"speed-up of the plan's choice", ""},
                    {"ideal overlap", "ms"},
                    {"speed-up with ideal overlap", ""}};
  figure.note = note_of(heading, sweeps) + ideal_overlap_notes(sweeps);
  for (const Sweep& sweep : sweeps) {
    const auto best = sweep.best();
    const auto said = find(published, sweep.of);
    auto& row = figure.rows.emplace_back();
    row.emplace_back(label(sweep.of));
    row.push_back(cell(best ? std::optional<double>(sweep.ms.at(1)) : std::nullopt));
    row.push_back(cell(best ? std::optional<double>(sweep.ms.at(best->streams)) : std::nullopt));
    row.push_back(cell(best ? std::optional<double>(static_cast<double>(best->streams)) : std::nullopt));
    row.push_back(cell(best ? std::optional<double>(best->speedup) : std::nullopt));
    row.push_back(cell(said ? std::optional<double>(said->speedup) : std::nullopt));
    row.push_back(cell(said ? std::optional<double>(static_cast<double>(said->streams)) : std::nullopt));
    row.push_back(sweep.automatic.empty() ? Cell() : Cell(sweep.automatic));
    row.push_back(cell(sweep.automatic_ms));
    row.push_back(cell(sweep.automatic_speedup()));
    row.push_back(cell(sweep.ideal_overlap_ms));
    row.push_back(cell(sweep.most()));
  }
  return figure;
}

std::vector<PublishedBest> together(std::span<const PublishedBest> first, std::span<const PublishedBest> second) {
  std::vector<PublishedBest> out(first.begin(), first.end());
  for (const PublishedBest& best : second)
    if (!find(out, best.of)) out.push_back(best);
  return out;
}

}  // namespace shiplap::experiments::eth
