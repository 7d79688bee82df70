// Makers of Figs 5 to 7 and Table 2.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/cells.hpp"
#include "experiments/gomezluna2012/applications.hpp"

namespace shiplap::experiments::gomez_luna {
namespace {

namespace model = gomez_luna_2012;

std::string published(const PublishedOptimum& o) {
  return o.low == o.high ? fmt::format("{}", o.low) : fmt::format("{}–{}", o.low, o.high);
}

Cell gain(const Found& found, Layout layout) {
  const std::optional<Gain> gain = found.gain(layout);
  if (!gain) return {};
  if (disturbed(*gain)) return to_string(*gain);
  return gain->percent;
}
Cell most_gain(const Found& found, Layout layout) {
  const std::optional<Gain> gain = found.gain(layout);
  return gain ? Cell{gain->most} : Cell{};
}

}  // namespace

Figure application_graph(const Application& app, const std::vector<Row>& rows, const Runner& runner, Seconds sc280,
                         Seconds sc480) {
  Figure figure{.id = fmt::format("fig{}", app.figure.back()),
                .where = std::string(app.figure),
                .title = std::string(app.name),
                .columns = {{app.id == "matmul" ? "p" : "frame", ""},
                            {"streams", ""},
                            {"one copy engine", "ms"},
                            {"eqs 1 and 3", "ms"},
                            {"implicit synchronisation", "ms"},
                            {"eqs 5 and 7", "ms"},
                            {"today's engines", "ms"}},
                .rows = {},
                .note = {}};
  for (const Row& row : rows) {
    if (!row.found) continue;
    const Found& f = *row.found;
    const std::string key(row.published->size);
    const Cell alone = ms(f.unstreamed());
    figure.rows.push_back({key, std::string("none"), alone, in_milliseconds(f.stages.total()), alone,
                           in_milliseconds(f.stages.total()), alone});
    for (const std::uint32_t n : app.counts)
      figure.rows.push_back(
          {key, static_cast<double>(n), ms(f.time(as_280, n)),
           in_milliseconds(streamed_time(f.work(sc280), n, model::Architecture::cc1)), ms(f.time(as_480, n)),
           in_milliseconds(streamed_time(f.work(sc480), n, model::Architecture::cc2)), ms(f.time(today, n))});
  }
  figure.note = fmt::format(
      "Times are {}; the published figures are graphs without numbers. t_sc is {:.2f} and {:.2f} µs.{}{}{}",
      runner.how(), in_microseconds(sc280), in_microseconds(sc480),
      app.id == "matmul" ? " The matrix B is on the GPU before the clock of the paper starts; here its copy is part of "
                           "every run, and the time of that copy alone is taken off."
                         : "",
      app.id == "grayscale" ? " A frame is never cut, so that there are 32 streams at most." : "",
      runner.bench().quick && !runner.simulated() && app.quick_sizes < app.sizes.size()
          ? " The larger sizes are not run with --quick."
          : "");
  return figure;
}

Figure application_table(const Application& app, const std::vector<Row>& rows, std::string_view how, Seconds sc280,
                         Seconds sc480) {
  Figure figure{.id = fmt::format("table2_{}", app.id),
                .where = fmt::format("Table 2, {}", app.name),
                .title = "estimated and experimental optimum number of streams, and what streams gain",
                .columns = {{app.id == "matmul" ? "p" : "frame", ""},
                            {"estimated, GTX 280 published", ""},
                            {"experimental, GTX 280 published", ""},
                            {"estimated, GTX 480 published", ""},
                            {"experimental, GTX 480 published", ""},
                            {"t_Thd", "ms"},
                            {"t_E", "ms"},
                            {"t_Tdh", "ms"},
                            {"one copy engine: estimated", ""},
                            {"one copy engine: with the cap", ""},
                            {"one copy engine: experimental", ""},
                            {"one copy engine: gain", "%"},
                            {"one copy engine: most", "%"},
                            {"implicit synchronisation: estimated", ""},
                            {"implicit synchronisation: experimental", ""},
                            {"implicit synchronisation: gain", "%"},
                            {"implicit synchronisation: most", "%"},
                            {"today's engines: experimental", ""},
                            {"today's engines: gain", "%"},
                            {"today's engines: most", "%"}},
                .rows = {},
                .note = {}};
  for (const Row& row : rows) {
    const PublishedSize& p = *row.published;
    std::vector<Cell> cells{std::string(p.size), p.on_280.estimated, published(p.on_280), p.on_480.estimated,
                            published(p.on_480)};
    if (row.found) {
      const Found& f = *row.found;
      const model::Work w280 = f.work(sc280);
      const model::Work w480 = f.work(sc480);
      const std::vector<Cell> here{in_milliseconds(f.stages.h2d),
                                   in_milliseconds(f.stages.kernel),
                                   in_milliseconds(f.stages.d2h),
                                   model::as_printed::optimal_streams(w280, model::Architecture::cc1),
                                   model::optimal_streams(w280, model::Architecture::cc1),
                                   to_string(best_streams(f.times_with_none(as_280))),
                                   gain(f, as_280),
                                   most_gain(f, as_280),
                                   model::as_printed::optimal_streams(w480, model::Architecture::cc2),
                                   to_string(best_streams(f.times_with_none(as_480))),
                                   gain(f, as_480),
                                   most_gain(f, as_480),
                                   to_string(best_streams(f.times_with_none(today))),
                                   gain(f, today),
                                   most_gain(f, today)};
      cells.insert(cells.end(), here.begin(), here.end());
    }
    cells.resize(figure.columns.size());
    figure.rows.push_back(std::move(cells));
  }
  figure.note = fmt::format(
      "Ours is {}. Experimental: all numbers that were run within 1 % of the best, as published. Gain: time without "
      "streams over the best time with streams, minus 1. 1: without streams; an estimate below 1 means that too. Cap: "
      "eq 2, but no more than √(t_T/t_sc). Most: what there is to gain when the longest stage, or the one copy engine, "
      "never waits. Disturbed: times that differ from visit to visit, a time without streams more than {:.0f} % above "
      "its "
      "stages and what is between them, or a gain above the most by more than its noise and {:.0f} points: no "
      "finding.{}",
      how, 100 * alone_tolerance, gain_tolerance,
      std::ranges::all_of(rows, [](const Row& r) { return r.found.has_value(); })
          ? ""
          : " Sizes without figures of ours were not run.");
  return figure;
}

Figure duels_figure(const Application& app, const std::vector<Duel>& all, std::string_view how) {
  Figure figure{
      .id = fmt::format("table2_{}_again", app.id),
      .where = fmt::format("Table 2, {}", app.name),
      .title = "what the estimates cost: their numbers of streams and the best of the sweep, timed again",
      .columns = {{app.id == "matmul" ? "p" : "frame", ""},
                  {"emulated", ""},
                  {"best of the sweep", ""},
                  {"its time", "ms"},
                  {"by the equations", ""},
                  {"time by the equations", "ms"},
                  {"longer", "%"},
                  {"with the cap", ""},
                  {"time with the cap", "ms"},
                  {"longer with the cap", "%"},
                  {"steady", ""}},
      .rows = {},
      .note = fmt::format("Times are {}, in turn with each other; 1: without streams. The number by an estimate "
                          "is that of both whole ones beside it which the equations put first. Disturbed: times that "
                          "differ from visit to visit, or a time without streams that is another than in the sweep by "
                          "more than {:.0f} %.",
                          how, 100 * same_alone)};
  for (const Duel& d : all)
    figure.rows.push_back({std::string(d.size), std::string(words(d.layout)), static_cast<double>(d.best),
                           cell(d.ms(d.best)), static_cast<double>(d.printed), cell(d.ms(d.printed)),
                           in_percent(d.longer(d.printed)), static_cast<double>(d.capped), cell(d.ms(d.capped)),
                           in_percent(d.longer(d.capped)), std::string(d.disturbed() ? "no, disturbed" : "yes")});
  return figure;
}

}  // namespace shiplap::experiments::gomez_luna
