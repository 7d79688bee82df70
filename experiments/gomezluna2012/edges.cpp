// Measured counter-examples to the equations and to unstated assumptions of the paper.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/gomezluna2012/runner.hpp"
#include "experiments/gomezluna2012/steps.hpp"
#include "shiplap/core/error.hpp"

namespace shiplap::experiments::gomez_luna {
namespace {

namespace model = gomez_luna_2012;

constexpr std::array<std::string_view, 3> edge_ids{"eq2-limit", "issue-order", "eq1-last"};
/// Least relative gain that shows overlap.
constexpr double some_gain = 0.05;

/// A prediction and the observed time.
struct Edge {
  std::string what;
  StageTimes stages;
  std::uint32_t streams = 1;
  double printed_ms = 0;
  double corrected_ms = 0;
  Seconds observed{0};
};

void add(Figure& figure, const Edge& edge) {
  const double observed = in_milliseconds(edge.observed);
  figure.rows.push_back({edge.what, in_milliseconds(edge.stages.h2d), in_milliseconds(edge.stages.kernel),
                         in_milliseconds(edge.stages.d2h), static_cast<double>(edge.streams), edge.printed_ms,
                         edge.corrected_ms, observed, 100 * (edge.printed_ms / observed - 1),
                         100 * (edge.corrected_ms / observed - 1)});
}

Figure empty_figure(std::string_view how) {
  return {.id = "edges",
          .where = "Eqs 1 and 2, listing of §2",
          .title = "where the printed equations are off, on one copy engine",
          .columns = {{"case", ""},
                      {"t_Thd", "ms"},
                      {"t_E", "ms"},
                      {"t_Tdh", "ms"},
                      {"streams", ""},
                      {"as printed", "ms"},
                      {"corrected", "ms"},
                      {"streamed", "ms"},
                      {"as printed", "%"},
                      {"corrected", "%"}},
          .rows = {},
          .note = fmt::format("Times are {}. The last two columns: model over streamed time minus 1. Corrected: "
                              "max(t_T, t_E + t_T/n) + t_sc n; depth-first t_T + t_E + t_sc n; for copies out that "
                              "are few the critical path.",
                              how)};
}

// For t_E slightly below t_T, eq 2 gives a number of streams that grows as the difference shrinks.
Finding eq2_limit(Runner& runner, Figure& figure) {
  constexpr double nearly = 0.98;  // for this ratio eq 2 gives 50 streams
  constexpr std::array<std::uint32_t, 9> counts{4, 6, 8, 12, 16, 24, 32, 50, 64};
  const Bytes size = 15_MiB;
  const Seconds copies = runner.transfer(true, size) + runner.transfer(false, size);
  const Seconds sc = runner.per_stream(as_280);
  const std::array<Layout, 1> layout{as_280};
  const Found found = runner.run(runner.scalar_add(size, size, copies * nearly), sweep(layout, counts));
  // The intended stages. How close the measured kernel is depends on the GPU's clocks.
  const model::Work asked{{found.stages.h2d, found.stages.transfers() * nearly, found.stages.d2h}, sc};
  const std::vector<Timed> times = found.times(as_280);
  const double printed = model::eq2_streams(asked);
  const double capped = model::optimal_streams(asked, model::Architecture::cc1);
  for (const double estimate : {printed, capped}) {
    const Timed& t = nearest(times, estimate);
    add(figure, {fmt::format("t_E = {} t_T, streams by {}", nearly, estimate == printed ? "eq 2" : "eq 2 with its cap"),
                 found.stages, t.streams, in_milliseconds(model::eq1(asked, t.streams)),
                 in_milliseconds(streamed_time(found.work_in(t.streams, sc), t.streams, model::Architecture::cc1)),
                 milliseconds(t.ms)});
  }
  const double best = std::ranges::min_element(times, {}, &Timed::ms)->ms;
  const std::array<double, 1> of_printed{nearest(times, printed).ms / best - 1};
  const std::array<double, 1> of_capped{nearest(times, capped).ms / best - 1};
  const Verdict verdict = verdict_of_regrets(of_printed, of_capped);
  return {"eq2-limit", verdict,
          fmt::format("{:.0f} streams by eq 2 take {:.1f} % longer than the best number ({})", printed,
                      100 * of_printed[0], to_string(best_streams(times))),
          verdict == Verdict::holds ? ""
                                    : fmt::format("min(t_T/(t_T − t_E), √(t_T/t_sc)) is {:.1f} and costs {:.1f} %",
                                                  capped, 100 * of_capped[0])};
}

Finding issue_order(Runner& runner, Figure& figure) {
  constexpr std::uint32_t n = 8;
  const Bytes size = 15_MiB;
  const Seconds copies = runner.transfer(true, size) + runner.transfer(false, size);
  const Seconds sc = runner.per_stream(as_280);
  const Found found =
      runner.run(runner.scalar_add(size, size, copies), {streams(as_280, n), streams(as_280, n, IssueOrder::depth),
                                                         streams(today, n), streams(today, n, IssueOrder::depth)});
  const auto gain = [&](Layout layout, IssueOrder order) {
    return *found.unstreamed() / found.time(layout, n, order).value() - 1;
  };
  const double breadth = gain(as_280, IssueOrder::breadth);
  const double depth = gain(as_280, IssueOrder::depth);
  for (const IssueOrder order : {IssueOrder::breadth, IssueOrder::depth}) {
    const model::Work w = found.work_in(n, sc);
    const bool first = order == IssueOrder::breadth;
    add(figure, {fmt::format("t_E = t_T, {}", first ? "breadth-first (the listing)" : "depth-first"), found.stages, n,
                 in_milliseconds(streamed_time(w, n, model::Architecture::cc1)),
                 in_milliseconds(first ? streamed_time(w, n, model::Architecture::cc1) : depth_first_time(w, n)),
                 found.time(as_280, n, order).value()});
  }
  const Verdict verdict = breadth < some_gain ? Verdict::does_not_hold
                          : depth < some_gain ? Verdict::holds_with_a_change
                                              : Verdict::holds;
  return {"issue-order", verdict,
          fmt::format("8 streams, t_E = t_T, one copy engine: {:+.0f} % breadth-first, {:+.0f} % depth-first; today's "
                      "engines {:+.0f} and {:+.0f} %",
                      100 * breadth, 100 * depth, 100 * gain(today, IssueOrder::breadth),
                      100 * gain(today, IssueOrder::depth)),
          verdict == Verdict::holds_with_a_change
              ? "on one copy engine in the order of the listing only: depth-first, each copy in waits behind the copy "
                "out before it"
              : ""};
}

Finding eq1_last(Runner& runner, Figure& figure) {
  constexpr std::uint32_t n = 4;
  const Bytes in = 23_MiB;
  const Bytes out = 1_MiB;
  const Seconds copies = runner.transfer(true, in) + runner.transfer(false, out);
  const Seconds sc = runner.per_stream(as_280);
  const Found found = runner.run(runner.scalar_add(in, out, copies / 2), {streams(as_280, n)});
  const Seconds observed = found.runs.empty() ? Seconds{0} : found.runs.front().time;
  if (observed <= Seconds{0}) throw Unsupported("the streamed run could not be made");
  const model::Work w = found.work_in(n, sc);
  const Seconds exact = critical_path(w, n, model::Architecture::cc1);
  add(figure, {"23 MiB in, 1 MiB out, t_E = 0.5 t_T", found.stages, n, in_milliseconds(model::eq1(w, n)),
               in_milliseconds(exact), observed});
  const std::array<double, 1> printed{model::eq1(w, n) / observed - 1};
  const std::array<double, 1> corrected{exact / observed - 1};
  const Verdict verdict = verdict_of_fit(fit_of(printed), fit_of(corrected));
  return {"eq1-last", verdict, fmt::format("23 MiB in and 1 MiB out in 4 streams: eq 1 {:+.1f} %", 100 * printed[0]),
          verdict == Verdict::holds
              ? ""
              : fmt::format("the critical path, t_Thd + t_E/n + t_Tdh/n, is off by {:+.1f} %", 100 * corrected[0])};
}

}  // namespace

StepResult edges(const Bench& bench) {
  try {
    Runner runner(bench);
    Figure figure = empty_figure(runner.how());
    StepResult result;
    result.findings = {eq2_limit(runner, figure), issue_order(runner, figure), eq1_last(runner, figure)};
    result.figures = {std::move(figure)};
    return result;
  } catch (const Unsupported& why) {
    return {.figures = {}, .findings = unchecked(edge_ids, why.what())};
  }
}

}  // namespace shiplap::experiments::gomez_luna
