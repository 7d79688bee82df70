#include "experiments/eth2025/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiments/eth2025/published.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/sim/simulate.hpp"

namespace shiplap::experiments::eth {
namespace {

void note_missing(Sweep& sweep, const std::string& why) {
  if (sweep.missing.find(why) != std::string::npos) return;
  sweep.missing += (sweep.missing.empty() ? "" : "; ") + why;
}

// Adds the plan's choice with its predicted time, which an observed one replaces later.
void plan_automatic(const Bench& bench, const Job& job, const Limits& limits, Sweep& out) {
  try {
    const Ranking planned = rank(job, bench.profile, limits, {.closed_forms = false});
    out.automatic = to_string(planned.best().choice);
    out.automatic_ms = in_milliseconds(planned.best().predicted.value);
    out.ideal_overlap_ms = in_milliseconds(planned.ideal_overlap.time.value);
  } catch (const Error& why) {
    note_missing(out, why.what());
  }
}

/// Reason why kernel times cannot be derived from the profile; "" where they can.
std::string lacking(const Profile& profile) {
  const bool has_gpu = !profile.gpus.empty();
  const std::string_view what = !has_gpu                                 ? "GPU"
                                : !profile.gpus.front().memory_bandwidth ? "memory bandwidth"
                                : !profile.gpus.front().flop_rate        ? "flop rate"
                                                                         : "";
  if (what.empty()) return "";
  return fmt::format("profile {} has no {}, from which a kernel's time could be derived", profile.name, what);
}

Sweep simulated(const Bench& bench, const Job& job, const std::vector<InStreams>& choices) {
  Sweep out;
  for (const auto& [streams, choice] : choices) try {
      const Schedule schedule = find_strategy(choice.strategy).schedule(job, choice, bench.limits);
      out.ms[streams] = in_milliseconds(simulate(schedule, bench.profile).timeline.makespan);
    } catch (const Error& why) {
      note_missing(out, why.what());
    }
  plan_automatic(bench, job, bench.limits, out);
  out.kernel_ms = in_milliseconds(job.cost.launch_time(job.items));
  return out;
}

Sweep observed(const Bench& bench, Workload workload, const std::vector<InStreams>& choices, unsigned rounds) {
  Sweep out;
  std::vector<Choice> to_run;
  for (const InStreams& each : choices) to_run.push_back(each.choice);
  Job job = workload.job;
  const EvaluatedWorkload found = observe(bench, std::move(workload), std::move(to_run), rounds);
  if (!found.not_run.empty()) note_missing(out, found.not_run);
  for (const SkippedChoice& skipped : found.skipped) note_missing(out, skipped.reason);
  for (const auto& [streams, choice] : choices)
    if (const auto time = time_of(found, choice)) out.ms[streams] = in_milliseconds(*time);
  if (found.cost.points.empty()) return out;
  job.cost = found.cost;
  // A choice may use two fifths of the memory, as in `evaluate`.
  plan_automatic(bench, job, bench.limits.fraction(2, 5), out);
  out.automatic_ms.reset();
  out.ideal_overlap_ms.reset();
  std::vector<double> automatic;
  std::vector<double> ideal;
  for (const EvaluatedGroup& group : found.groups) {
    automatic.insert(automatic.end(), group.automatic_ms.begin(), group.automatic_ms.end());
    ideal.insert(ideal.end(), group.ideal_overlap_ms.begin(), group.ideal_overlap_ms.end());
  }
  if (!automatic.empty()) out.automatic_ms = median(automatic);
  if (!ideal.empty()) out.ideal_overlap_ms = median(ideal);
  out.kernel_ms = in_milliseconds(found.kernel);
  Seconds pieces = found.kernel;
  for (const InStreams& each : choices) {
    const std::uint64_t chunks = std::min<std::uint64_t>(each.choice.chunks, job.items);
    pieces = std::min(pieces, found.cost.launch_time((job.items + chunks - 1) / chunks) * static_cast<double>(chunks));
  }
  ideal_overlap_of_chunks(out, in_milliseconds(pieces), in_milliseconds(ideal_overlap(job, bench.profile).copies));
  return out;
}

}  // namespace

void ideal_overlap_of_chunks(Sweep& sweep, double chunked_ms, double copies_ms) {
  if (!sweep.ideal_overlap_ms || !sweep.kernel_ms) return;
  // Largest ratio of equal kernel times. Medians differ by less between runs.
  constexpr double same = 1.02;
  const double whole_ms = *sweep.kernel_ms;
  if (chunked_ms * same < whole_ms && copies_ms < whole_ms * same) {
    sweep.ideal_overlap_ms = std::min(*sweep.ideal_overlap_ms, std::max(chunked_ms, copies_ms));
    sweep.ideal_overlap_note =
        fmt::format("the kernel takes {:.4g} ms in chunks and {:.4g} ms whole; ideal overlap is that of chunks",
                    chunked_ms, whole_ms);
  }
  double least = sweep.automatic_ms.value_or(*sweep.ideal_overlap_ms);
  for (const auto& [streams, time] : sweep.ms) least = std::min(least, time);
  if (least * same >= *sweep.ideal_overlap_ms) return;
  sweep.ideal_overlap_note =
      fmt::format("no limit: {:.4g} ms were reached, less than the {:.4g} ms of the kernel or the copies alone", least,
                  *sweep.ideal_overlap_ms);
  sweep.ideal_overlap_ms.reset();
}

std::optional<double> Sweep::speedup(std::uint32_t streams) const {
  const auto one = ms.find(1);
  const auto many = ms.find(streams);
  if (one == ms.end() || many == ms.end()) return std::nullopt;
  return one->second / many->second;
}

std::optional<double> Sweep::automatic_speedup() const {
  if (!ms.contains(1) || !automatic_ms) return std::nullopt;
  return ms.at(1) / *automatic_ms;
}

std::optional<double> Sweep::most() const {
  if (!ms.contains(1) || !ideal_overlap_ms || *ideal_overlap_ms <= 0) return std::nullopt;
  return ms.at(1) / *ideal_overlap_ms;
}

std::optional<Sweep::Best> Sweep::best() const {
  if (!ms.contains(1)) return std::nullopt;
  Best best;
  for (const auto& [streams, time] : ms)
    if (ms.at(1) / time > best.speedup) best = {.speedup = ms.at(1) / time, .streams = streams};
  return best;
}

std::vector<InStreams> as_published(std::span<const std::uint32_t> streams, std::uint64_t most) {
  std::vector<InStreams> out;
  for (const std::uint32_t s : streams)
    if (s <= most)
      out.push_back({s, {.strategy = "streams", .chunks = s, .layout = Layout::per_chunk, .order = IssueOrder::depth}});
  return out;
}

std::vector<InStreams> level_by_level(std::span<const std::uint32_t> streams, std::uint64_t levels) {
  std::vector<InStreams> out;
  for (const std::uint32_t s : streams)
    if (s <= levels)
      out.push_back({s,
                     {.strategy = "streams",
                      .chunks = static_cast<std::uint32_t>(levels),
                      .layout = Layout::few,
                      .streams = s,
                      .order = IssueOrder::depth}});
  return out;
}

Sweep sweep(const Bench& bench, std::uint64_t of, const std::string& workload, const std::vector<InStreams>& choices,
            unsigned rounds) {
  Workload w = find_workload(workload);
  Sweep out;
  if (!bench.info.is_virtual) {
    out = observed(bench, std::move(w), choices, rounds);
  } else if (const std::string lacks = lacking(bench.profile); !lacks.empty()) {
    out.missing = lacks;
  } else {
    w.job.cost = derived_cost(w.job, bench.profile);
    out = simulated(bench, w.job, choices);
  }
  out.of = of;
  return out;
}

Sweep arccos_sweep(const Bench& bench, std::uint64_t of, std::uint64_t elements, std::uint32_t calls,
                   std::span<const std::uint32_t> streams, unsigned rounds) {
  const std::vector<InStreams> choices = as_published(streams, elements - 1);
  if (const auto kernel = fitted_kernel(bench.profile.name); kernel && bench.info.is_virtual) {
    Sweep out = simulated(bench, published_sweep::published_job({.calls = calls, .size = elements}, *kernel), choices);
    out.of = of;
    return out;
  }
  return sweep(bench, of, fmt::format("arccos:n={},calls={},precision=promoted", elements, calls), choices, rounds);
}

std::string simulated_note(const Bench& bench) {
  if (!bench.info.is_virtual) return "";
  const std::string kernel =
      fitted_kernel(bench.profile.name)
          ? "the arccos kernel is the one fitted to the published times together with the profile"
          : "the kernel's time is derived from its operations and bytes";
  return fmt::format("Simulated on profile {}, at the published sizes; {}.", bench.profile.name, kernel);
}

std::string missing_of(std::span<const Sweep> sweeps) {
  std::vector<std::string> reasons;
  for (const Sweep& s : sweeps)
    if (!s.missing.empty() && std::ranges::find(reasons, s.missing) == reasons.end()) reasons.push_back(s.missing);
  constexpr std::size_t most = 2;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, reasons.size()); ++i) text += (i == 0 ? "" : "; ") + reasons[i];
  if (reasons.size() > most) text += fmt::format("; and {} more reasons", reasons.size() - most);
  return text;
}

}  // namespace shiplap::experiments::eth
