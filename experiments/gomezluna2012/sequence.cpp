// Table 3: 4096 frames in chunks of 32, half of them uniform and half degenerate, with and without streams.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiments/gomezluna2012/runner.hpp"
#include "experiments/gomezluna2012/steps.hpp"
#include "experiments/gomezluna2012/stream.hpp"
#include "shiplap/core/error.hpp"

namespace shiplap::experiments::gomez_luna {
namespace {

namespace model = gomez_luna_2012;

constexpr double all_frames = 4096;
constexpr unsigned chunk = 32;  // frames in a chunk
constexpr double chunks_of_half = 2048 / chunk;
constexpr std::array<std::uint32_t, 5> frame_counts{2, 4, 8, 16, 32};
constexpr std::array<std::string_view, 2> frame_sizes{"352x288", "704x576"};
constexpr std::array<std::string_view, 3> sequence_ids{"table3", "adaptation", "distribution"};
/// Least ratio of kernel times for "much longer".
constexpr double much_longer = 1.5;
/// Published gains in %, which follow from rounded frames per second.
constexpr Range published_gains{8, 18};

std::string batch(std::string_view size, std::string_view data, unsigned frames, unsigned copies = 32) {
  const std::size_t x = size.find('x');
  return fmt::format("histogram:frames={},width={},height={},data={},copies={}", frames, size.substr(0, x),
                     size.substr(x + 1), data, copies);
}

/// The workload of a chunk. Where the profile has no rates, its kernel time is that of the GTX 480, which Table 2
/// implies by eq 6 for 64 frames.
Workload frames_of(const Runner& runner, std::string_view size, std::string_view data, unsigned frames) {
  Workload workload = find_workload(batch(size, data, frames));
  const auto published = std::ranges::find(histogram_sizes, size, &PublishedSize::size);
  runner.state_kernel(workload, milliseconds(implied_ms(published->on_480.estimated, gtx480) * frames / 64));
  return workload;
}

/// Times of chunks of 32 frames, for both halves.
struct Halves {
  std::string_view size;
  Found uniform;
  Found degenerate;
};

/// Times of a chunk of one half.
struct Half {
  double unstreamed_ms = 0;
  Timed by_estimate;  ///< time with the number of streams that is best by the equations, from the stages of the chunk
                      ///< without streams
  Timed best;
};

Half half_of(const Found& found, Layout layout, Seconds per_stream) {
  const std::vector<Timed> times = found.times_with_none(layout);
  const model::Work work = found.work(per_stream);
  const auto predicted = [&](const Timed& t) {
    return t.streams == 1 ? unstreamed_time(work) : streamed_time(work, t.streams, architecture_of(layout));
  };
  return {in_milliseconds(found.unstreamed().value()), *std::ranges::min_element(times, {}, predicted),
          *std::ranges::min_element(times, {}, &Timed::ms)};
}

double per_second(double uniform_ms, double degenerate_ms) {
  return all_frames / (1e-3 * chunks_of_half * (uniform_ms + degenerate_ms));
}

/// Frames per second of the protocol of §4.4, computed from times of chunks: one chunk of each half runs without
/// streams, and one chunk of the second half still runs with the number of the first, which reveals the change.
double adapted_per_second(const Half& uniform, const Half& degenerate, double degenerate_as_before_ms) {
  const double ms = uniform.unstreamed_ms + (chunks_of_half - 1) * uniform.by_estimate.ms + degenerate_as_before_ms +
                    degenerate.unstreamed_ms + (chunks_of_half - 2) * degenerate.by_estimate.ms;
  return all_frames / (1e-3 * ms);
}

struct Gains {
  std::vector<double> streamed;  ///< gains in % of the emulated GPUs with the estimated numbers
  std::vector<double> adapted;   ///< gains in % including the cost of the protocol
  std::vector<double> ours;      ///< gains in % of Adaptive over the protocol, on a GPU only
  std::size_t disturbed = 0;     ///< number of cases that are left out of `streamed`
  std::size_t changes = 0;       ///< number of cases in which the two halves need different numbers of streams
  std::vector<double> today;
  Range shares;  ///< range of t_E / t_T over all chunks
};

std::vector<Cell> row_of(std::string_view machine, std::string_view how, std::string_view size, double alone,
                         double streamed, Cell adapted, Cell ours, std::string numbers) {
  return {std::string(machine), std::string(how), std::string(size), alone, streamed, 100 * (streamed / alone - 1),
          std::move(adapted),   std::move(ours),  std::move(numbers)};
}

Figure empty_table() {
  Figure figure{.id = "table3",
                .where = "Table 3",
                .title =
                    "frames per second of the histogram of 4096 frames in chunks of 32, half uniform and half "
                    "degenerate",
                .columns = {{"GPU", ""},
                            {"source", ""},
                            {"frame", ""},
                            {"unstreamed", "frames/s"},
                            {"optimally streamed", "frames/s"},
                            {"gain", "%"},
                            {"by the protocol", "frames/s"},
                            {"by Adaptive", "frames/s"},
                            {"streams, uniform and degenerate", ""}},
                .rows = {},
                .note = {}};
  for (const PublishedRate& p : frame_rates)
    figure.rows.push_back(row_of(p.gpu, "published", p.frame, p.unstreamed, p.streamed, {}, {}, ""));
  return figure;
}

void add_rows(Figure& figure, Gains& gains, const Halves& h, Runner& runner) {
  for (const Layout layout : all_layouts) {
    const Seconds sc = runner.per_stream(layout);
    const Half u = half_of(h.uniform, layout, sc);
    const Half d = half_of(h.degenerate, layout, sc);
    const double alone = per_second(u.unstreamed_ms, d.unstreamed_ms);
    const bool modelled = layout != today;
    const Timed& uniform = modelled ? u.by_estimate : u.best;
    const Timed& degenerate = modelled ? d.by_estimate : d.best;
    const double streamed = per_second(uniform.ms, degenerate.ms);
    Cell adapted;
    Cell ours;
    if (modelled) {
      const std::vector<Timed> times = h.degenerate.times_with_none(layout);
      const Timed& as_before = nearest(times, u.by_estimate.streams);
      double rate = adapted_per_second(u, d, as_before.ms);
      double unstreamed = alone;
      if (!runner.simulated()) {
        const StreamRates run = stream_rates(runner.bench(), find_workload(batch(h.size, "uniform", chunk)),
                                             find_workload(batch(h.size, "degenerate", chunk)), h.uniform.cost, layout,
                                             frame_counts, sc, 2 * static_cast<std::uint64_t>(chunks_of_half));
        rate = run.protocol;
        unstreamed = run.unstreamed;
        ours = run.adaptive;
        gains.ours.push_back(100 * (run.adaptive / run.protocol - 1));
      }
      adapted = rate;
      if (std::ranges::all_of(std::array{&h.uniform, &h.degenerate}, [layout](const Found* f) {
            const auto gain = f->gain(layout);
            return gain && !disturbed(*gain);
          }))
        gains.streamed.push_back(100 * (streamed / alone - 1));
      else
        ++gains.disturbed;
      gains.adapted.push_back(100 * (rate / unstreamed - 1));
      gains.changes += u.by_estimate.streams != d.by_estimate.streams ? 1 : 0;
    } else {
      gains.today.push_back(100 * (streamed / alone - 1));
    }
    figure.rows.push_back(row_of(words(layout), runner.how(), h.size, alone, streamed, std::move(adapted),
                                 std::move(ours), fmt::format("{} and {}", uniform.streams, degenerate.streams)));
  }
}

// Adds 2048 frames as one job of 64 chunks, so that chunks overlap each other too. Copies of each direction have a
// stream of their own.
void add_overlapping(Figure& figure, std::string_view size, Runner& runner) {
  if (runner.bench().quick && !runner.simulated()) return;
  const Choice choice{.strategy = "streams", .chunks = 64, .layout = Layout::three, .order = IssueOrder::depth};
  double alone = 0;
  double streamed = 0;
  for (const char* data : {"uniform", "degenerate"}) {
    const Found found = runner.run(frames_of(runner, size, data, 2048), {choice});
    if (found.runs.empty() || !found.alone) return;
    alone += in_milliseconds(found.alone->time);
    streamed += in_milliseconds(found.runs.front().time);
  }
  figure.rows.push_back(row_of("today's engines, chunks overlap each other", runner.how(), size,
                               all_frames / (1e-3 * alone), all_frames / (1e-3 * streamed), {}, {},
                               "64 chunks a half"));
}

Finding of_table(const Gains& gains) {
  const Verdict verdict = verdict_of_gains(published_gains, gains.streamed);
  if (gains.streamed.empty()) return unknown("table3", "all cases were disturbed");
  return {
      "table3", verdict,
      fmt::format(
          "{} with the emulated GPUs, {} with today's engines{}", to_string(range_of(gains.streamed)),
          to_string(range_of(gains.today)),
          gains.disturbed > 0 ? fmt::format("; {} more cases were disturbed and are left out", gains.disturbed) : ""),
      verdict == Verdict::holds ? ""
                                : fmt::format("the gain depends on t_E over t_T, which is {:.2f} to {:.2f} here",
                                              gains.shares.low, gains.shares.high)};
}

double kernel_ratio(const Found& a, const Found& b) {
  if (b.stages.kernel <= Seconds{0}) throw Unsupported("the kernel is too short to be timed");
  return a.stages.kernel / b.stages.kernel;
}

Finding of_distribution(Runner& runner, const std::vector<Halves>& halves) {
  if (runner.simulated()) return unknown("distribution", "a derived kernel time does not depend on the data");
  std::vector<double> many;
  for (const Halves& h : halves) many.push_back(kernel_ratio(h.degenerate, h.uniform));
  const std::string_view size = frame_sizes.back();
  const double one = kernel_ratio(runner.run(find_workload(batch(size, "degenerate", chunk, 1)), {}),
                                  runner.run(find_workload(batch(size, "uniform", chunk, 1)), {}));
  const Range r = range_of(many);
  return {
      "distribution",
      r.low >= much_longer ? Verdict::holds
      : one >= much_longer ? Verdict::holds_with_a_change
                           : Verdict::does_not_hold,
      fmt::format("degenerate over uniform: {:.2f} to {:.2f} with 32 copies of the bins in a block, {:.2f} with one",
                  r.low, r.high, one),
      r.low >= much_longer ? ""
      : one >= much_longer ? "only with one copy of the bins in a block"
                           : "with one copy of the bins in a block neither"};
}

}  // namespace

StepResult sequence(const Bench& bench) {
  Figure table = empty_table();
  try {
    Runner runner(bench);
    runner.verify_small("histogram:frames=4,width=176,height=144,data=mixed");
    std::vector<Halves> halves;
    Gains gains;
    for (const std::string_view size : frame_sizes) {
      const auto run = [&](std::string_view data) {
        return runner.run(frames_of(runner, size, data, chunk), sweep(all_layouts, frame_counts));
      };
      halves.push_back({size, run("uniform"), run("degenerate")});
      add_rows(table, gains, halves.back(), runner);
      add_overlapping(table, size, runner);
    }
    std::vector<double> shares;
    for (const Halves& h : halves)
      for (const Found* f : {&h.uniform, &h.degenerate}) shares.push_back(f->stages.kernel / f->stages.transfers());
    gains.shares = range_of(shares);
    table.note =
        "Ours: times of a chunk of 32 frames of either half, 64 chunks each, one after the other as in the paper. For "
        "the emulated GPUs the number of streams is the one that the equations put first, from the times of the "
        "un-streamed chunk (1: no streams); today's engines have no equation in the paper and show the best number. "
        "The protocol (§4.4: threshold 15 %, twice in a row) and Adaptive run all 128 chunks as one input, each chunk "
        "waited for.";
    if (runner.simulated())
      table.note +=
          " Simulated kernels take the same time for any data, so the protocol is put together from times of chunks: "
          "two run without streams and one with the number of the half before.";
    return {.figures = {std::move(table)},
            .findings = {of_table(gains), of_adaptation(gains.adapted, gains.ours, gains.changes),
                         of_distribution(runner, halves)}};
  } catch (const Unsupported& why) {
    table = empty_table();
    table.note = fmt::format("Published figures alone: {}.", why.what());
    return {.figures = {std::move(table)}, .findings = unchecked(sequence_ids, why.what())};
  }
}

}  // namespace shiplap::experiments::gomez_luna
