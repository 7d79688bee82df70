// Figs 1 to 3: arccos by size, calls and streams.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "experiments/cells.hpp"
#include "experiments/eth2025/figures.hpp"
#include "experiments/eth2025/steps.hpp"
#include "experiments/eth2025/verdicts.hpp"

namespace shiplap::experiments::eth {
namespace {

constexpr std::array<std::uint32_t, 6> arccos_few_streams{1, 2, 8, 32, 256, 512};

std::span<const std::uint32_t> arccos_streams_of(const Bench& bench) {
  return reduced(bench) ? std::span<const std::uint32_t>(arccos_few_streams) : std::span(arccos_streams);
}

/// Numbers of streams for 2^29 elements. There are few, because filling and verifying takes seconds for each.
constexpr std::array<std::uint32_t, 5> arccos_streams_of_the_largest{1, 2, 8, 32, 256};

std::span<const std::uint32_t> arccos_streams_of(const Bench& bench, std::uint64_t elements) {
  if (elements < power(29) || bench.info.is_virtual) return arccos_streams_of(bench);
  return arccos_streams_of_the_largest;
}

/// Rounds for an array of this number of elements. Runs of small arrays take 30 µs and vary, runs of large ones take
/// 100 ms.
unsigned rounds_of(const Bench& bench, std::uint64_t elements) {
  if (elements <= power(21)) return bench.quick ? 11 : 31;
  if (elements >= power(29)) return 5;
  return bench.quick ? 5 : 11;
}

/// A figure of our times beside those of perf_test_cuda_269302.
Figure beside_sweeps(const Heading& heading, std::span<const Sweep> sweeps, std::uint64_t elements) {
  Figure figure = empty_figure(heading);
  figure.columns = {{"streams", ""}};
  std::vector<std::pair<const Sweep*, const PublishedSweep*>> pairs;
  for (const PublishedSweep& published : eth::sweeps())
    for (const Sweep& s : sweeps)
      if (published.elements == elements && s.of == published.calls) pairs.emplace_back(&s, &published);
  for (const auto& [ours, published] : pairs) {
    const std::string calls = fmt::format("{} call{}", published->calls, published->calls == 1 ? "" : "s");
    figure.columns.push_back({calls, "ms"});
    figure.columns.push_back({calls + ", published", "ms"});
  }
  for (std::size_t i = 0; i < arccos_streams.size(); ++i) {
    auto& row = figure.rows.emplace_back();
    row.emplace_back(static_cast<double>(arccos_streams[i]));
    for (const auto& [ours, published] : pairs) {
      const auto time = ours->ms.find(arccos_streams[i]);
      row.push_back(cell(time == ours->ms.end() ? std::nullopt : std::optional<double>(time->second)));
      row.emplace_back(published->ms[i]);
    }
  }
  return figure;
}

Figure runtime_figure(const Bench& bench, std::span<const Sweep> sweeps) {
  Figure figure = empty_figure(heading(
      bench, "fig2", "Fig. 2", "time of one arccos call by number of elements, in 1, 2, 32 and 256 streams",
      fmt::format("Published: run 257136, by the host's clock; here {}. Nothing where there are no more elements than "
                  "streams.",
                  bench.info.is_virtual ? "the time of the whole schedule" : "by events on the GPU")));
  figure.columns = {{"elements", ""}};
  for (const std::uint32_t s : runtime_streams) {
    figure.columns.push_back({fmt::format("in {}", s), "ms"});
    figure.columns.push_back({fmt::format("in {}, published", s), "ms"});
  }
  figure.columns.push_back({"plan's choice", "ms"});
  for (const Sweep& sweep : sweeps) {
    const auto published = std::ranges::find(runtimes(), sweep.of, &PublishedRuntime::elements);
    auto& row = figure.rows.emplace_back();
    row.emplace_back(fmt::format("2^{}", std::countr_zero(sweep.of)));
    for (std::size_t i = 0; i < runtime_streams.size(); ++i) {
      const auto time = sweep.ms.find(runtime_streams[i]);
      row.push_back(cell(time == sweep.ms.end() ? std::nullopt : std::optional<double>(time->second)));
      row.push_back(published == runtimes().end() ? Cell() : cell(published->ms[i]));
    }
    row.push_back(cell(sweep.automatic_ms));
  }
  return figure;
}

/// The sweeps of arrays with at least this number of elements, as in Fig. 1.
std::vector<Sweep> from(std::span<const Sweep> sweeps, std::uint64_t elements) {
  std::vector<Sweep> out;
  for (const Sweep& s : sweeps)
    if (s.of >= elements) out.push_back(s);
  return out;
}

}  // namespace

StepResult one_call(const Bench& bench) {
  std::vector<unsigned> powers{3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29};
  if (reduced(bench)) powers = {3, 13, 17, 19, 21, 23, 25, 27};
  std::vector<Sweep> all;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    progress(bench, fmt::format("one arccos call on 2^{} elements", powers[i]), i, powers.size());
    const std::uint64_t n = power(powers[i]);
    all.push_back(arccos_sweep(bench, n, n, 1, arccos_streams_of(bench, n), rounds_of(bench, n)));
  }
  const std::vector<Sweep> large = from(all, power(19));
  const Sweep& largest = all.back();
  const PublishedBest published = *find(one_call_best(), largest.of);
  const Column elements{"elements", ""};
  StepResult result;
  result.figures = {
      speedups(heading(bench, "fig1", "Fig. 1", "speed-up of one arccos call by number of streams"), elements, large,
               arccos_streams_of(bench)),
      bests(heading(bench, "fig1-best", "Fig. 1", "the best of each size, beside the plan's choice and ideal overlap",
                    "Published: run 257136."),
            elements, large, one_call_best()),
      runtime_figure(bench, all)};
  Finding best = best_speedup("fig1-best", largest, published, fmt::format("2^{} elements", powers.back()));
  if (powers.back() != 29 && best.verdict == Verdict::holds) {
    best.verdict = Verdict::holds_with_a_change;
    best.why = fmt::format("2^27 elements, for which {} is published; without --quick it is 2^29", published.speedup);
  }
  result.findings = {best,
                     grows_with_size(large),
                     optimum_depends(large),
                     pays_from(all),
                     many_streams_pay(all),
                     overhead_of_streams(all),
                     gt4py_arccos(largest),
                     unknown("threads", "the built-in kernel has 256 threads per block, and no other number was run")};
  return result;
}

StepResult more_calls(const Bench& bench) {
  constexpr std::uint64_t elements = power(23);
  std::vector<std::uint32_t> calls{1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
  if (bench.quick) calls = {1, 8, 16, 32, 64, 512};
  std::vector<Sweep> all;
  const auto add = [&](std::span<const std::uint32_t> numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      progress(bench, fmt::format("{} arccos calls on 2^23 elements", numbers[i]), i, numbers.size());
      // All numbers of streams are run, because the published best is 16.
      all.push_back(arccos_sweep(bench, numbers[i], elements, numbers[i], arccos_streams, rounds_of(bench, elements)));
    }
    std::ranges::sort(all, {}, &Sweep::of);
  };
  add(calls);
  // The peak lies between powers of two, so numbers of calls near it are added.
  if (const auto balance = balance_of_calls(all)) add(calls_around(*balance, all, reduced(bench)));
  const auto of = [&](std::uint64_t c) { return *std::ranges::find(all, c, &Sweep::of); };
  const Column column{"calls", ""};
  StepResult result;
  const std::string run = "Published: run 269302.";
  result.figures = {
      speedups(heading(bench, "fig3", "Fig. 3", "speed-up of 2^23 elements by number of streams"), column, all,
               arccos_streams),
      bests(heading(bench, "fig3-best", "Fig. 3",
                    "the best of each number of calls, beside the plan's choice and ideal overlap", run),
            column, all, calls_best()),
      beside_sweeps(heading(bench, "fig3-times", "Fig. 3", "times of 2^23 elements", run), all, elements)};
  result.findings = {best_speedup("fig3-best", of(32), *find(calls_best(), 32), "32 calls on 2^23 elements"),
                     best_speedup("fig3-one-call", of(1), *find(calls_best(), 1), "1 call on 2^23 elements"),
                     peak_of_calls(all, "2^23 elements")};
  return result;
}

StepResult largest_array(const Bench& bench) {
  const unsigned size = reduced(bench) ? 27 : 29;
  const std::uint64_t elements = power(size);
  std::vector<std::uint32_t> calls{1, 2, 4, 8, 16, 32, 64, 128, 256};
  if (!bench.info.is_virtual) calls = {1, 32, 64};
  if (bench.info.is_virtual && bench.quick) calls = {1, 32, 64, 128};
  // The number of calls at which the kernel takes as long as the copies is found on a small array.
  constexpr std::uint64_t little = power(25);
  constexpr std::array<std::uint32_t, 1> one_stream{1};
  std::vector<Sweep> search;
  for (const std::uint32_t c : {1u, 32u, 64u}) search.push_back(arccos_sweep(bench, c, little, c, one_stream, 3));
  if (const auto balance = balance_of_calls(search)) {
    const auto at = static_cast<std::uint32_t>(std::lround(*balance));
    if (std::ranges::find(calls, at) == calls.end()) calls.push_back(at);
    std::ranges::sort(calls);
  }
  std::vector<Sweep> all;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    progress(bench, fmt::format("{} arccos calls on 2^{} elements", calls[i], size), i, calls.size());
    all.push_back(arccos_sweep(bench, calls[i], elements, calls[i], arccos_streams_of(bench, elements),
                               rounds_of(bench, elements)));
  }
  const Column column{"calls", ""};
  const std::string of = fmt::format("2^{} elements", size);
  const auto published = size == 29 ? largest_best() : std::span<const PublishedBest>{};
  const std::string run = "Published: run 269302 of 2^29 elements, in the authors' file and not in the report.";
  const std::string where = "§4.2, beside Fig. 3";
  StepResult result;
  result.figures = {
      speedups(heading(bench, "largest", where, fmt::format("speed-up of {} by number of streams", of)), column, all,
               arccos_streams_of(bench)),
      bests(
          heading(bench, "largest-best", where,
                  fmt::format("the best of each number of calls on {}, beside the plan's choice and ideal overlap", of),
                  size == 29 ? run : ""),
          column, all, published)};
  if (size == 29)
    result.figures.push_back(
        beside_sweeps(heading(bench, "largest-times", where, "times of 2^29 elements", run), all, elements));
  result.findings = {peak_of_calls(all, of), two_is_most(all, of), falls_beyond(all)};
  return result;
}

}  // namespace shiplap::experiments::eth
