// The steps of Harris 2012 about copies: which calls block the host, rates by events, the whole program.
#include <fmt/format.h>

#include "experiments/cells.hpp"
#include "experiments/harris2012/harris2012.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/measure/trial.hpp"

namespace shiplap::experiments::harris {

using shiplap::to_string;

namespace {

constexpr std::uint64_t pattern = 2012;

/// Times one copy between memory of that kind and the GPU, repeatedly, and verifies its bytes.
CopyTimes time_copy(const Bench& bench, CopyDirection way, MemoryKind memory, Bytes size) {
  const Trial trial = copy_burst(way, size, 1, memory);
  std::vector<Memory> memories;
  Bindings bindings;
  for (const Buffer& buffer : trial.schedule.buffers) {
    memories.push_back(bench.device.allocate(buffer.place, buffer.memory, buffer.size));
    bindings.buffers.push_back(memories.back().data());
  }
  const Trial::Transfer& moved = trial.transfers.front();
  bench.device.fill(memories[moved.from.index()], pattern);
  bench.device.fill(memories[moved.to.index()], pattern + 1);
  const auto execution = bench.device.prepare(trial.schedule, bindings);
  const unsigned repeats = bench.info.is_virtual ? 1 : bench.quick ? 9 : 31;
  std::vector<double> events;
  std::vector<double> submitted;
  std::vector<double> waited;
  for (unsigned i = 0; i < 1 + repeats; ++i) {
    const RunResult run = execution->run();
    if (i == 0 && repeats > 1) continue;
    events.push_back(run.timeline.makespan.count());
    submitted.push_back(run.submission.count());
    waited.push_back(run.host_total.count());
  }
  if (bench.device.mismatches(memories[moved.to.index()], Bytes{0}, moved.length, pattern, Bytes{0}) > 0)
    throw CheckFailed(fmt::format("a copy of {} did not arrive", to_string(size)));
  return {.direction = way == CopyDirection::host_to_device ? "host to GPU" : "GPU to host",
          .memory = to_string(memory),
          .size = size,
          .events = Seconds{median(events)},
          .submitted = Seconds{median(submitted)},
          .waited = Seconds{median(waited)}};
}

Figure copies_figure(const Bench& bench, const std::vector<CopyTimes>& copies, const std::string& why_not) {
  Figure figure{.id = "copies",
                .where = "Host-device synchronization; Summary",
                .title = "one copy by events and by the host's clock",
                .columns = {{"memory", ""},
                            {"direction", ""},
                            {"size", ""},
                            {"by events", "µs"},
                            {"CPU timer with barrier", "µs"},
                            {"until the call is back", "µs"},
                            {"of the time with barrier", "%"},
                            {"rate by events", "GB/s"}},
                .rows = {},
                .note =
                    "The article has no figures of copies. Its cudaMemcpy is cudaMemcpyAsync in a stream here; how "
                    "long a call holds the host is in the columns."};
  if (bench.info.is_virtual) figure.note += " Simulated on the profile.";
  if (!why_not.empty()) figure.note += fmt::format(" Rows are missing: {}.", why_not);
  for (const CopyTimes& copy : copies)
    figure.rows.push_back({copy.memory, copy.direction, to_string(copy.size), in_microseconds(copy.events),
                           in_microseconds(copy.waited), in_microseconds(copy.submitted),
                           100 * (copy.submitted / copy.waited), in_gigabytes_per_second(copy.size / copy.events)});
  return figure;
}

/// The article's program, with pageable and with pinned memory: copies of x and y in, the kernel, copy of y out.
struct Program {
  std::string memory;
  std::optional<Seconds> time;
  std::string why_not;
  bool verified = false;
};
Program run_program(const Bench& bench, std::uint64_t elements, MemoryKind memory, const Choice& choice) {
  Workload workload = find_workload(fmt::format("saxpy:n={}", elements));
  for (Array& array : workload.job.arrays) array.memory = memory;
  Program program{.memory = to_string(memory), .time = std::nullopt, .why_not = "", .verified = false};
  try {
    if (bench.info.is_virtual) workload.job.cost = cost_of_saxpy(workload.job, bench.profile);
    const EvaluatedWorkload observed = observe(bench, std::move(workload), {choice});
    program.time = time_of(observed, choice);
    program.verified = program.time.has_value();
    for (const SkippedChoice& skipped : observed.skipped) program.why_not = skipped.reason;
    if (!observed.not_run.empty()) program.why_not = observed.not_run;
  } catch (const Unsupported& reason) {
    program.why_not = reason.what();
  }
  return program;
}

Finding judge_program(const std::vector<Program>& programs) {
  Finding finding{.claim = "correct", .observed = "", .why = ""};
  for (const Program& program : programs) {
    if (!program.verified) {
      finding.why = program.why_not;
      return finding;
    }
    finding.observed += fmt::format("{}{} memory: every bit as computed on the host",
                                    finding.observed.empty() ? "" : "; ", program.memory);
  }
  finding.verdict = Verdict::holds;
  return finding;
}

}  // namespace

StepResult run_copies(const Bench& bench) {
  std::vector<Bytes> sizes{4_KiB, 64_KiB, 1_MiB, 16_MiB, 80_MiB};  // the last size is that of the article's arrays
  if (bench.info.is_virtual) sizes = {4_KiB, 64_KiB, 1_MiB, 16_MiB};
  std::vector<CopyTimes> copies;
  std::string why_not;
  for (const MemoryKind memory : {MemoryKind::pageable, MemoryKind::pinned})
    for (const CopyDirection way : {CopyDirection::host_to_device, CopyDirection::device_to_host}) try {
        for (const Bytes size : sizes) copies.push_back(time_copy(bench, way, memory, size));
      } catch (const Unsupported& reason) {
        why_not = reason.what();
      }
  const std::uint64_t elements = bench.info.is_virtual ? 1ull << 20 : published_elements;
  const std::vector<Program> programs{run_program(bench, elements, MemoryKind::pageable, {.strategy = "pageable"}),
                                      run_program(bench, elements, MemoryKind::pinned, {.strategy = "explicit"})};
  Figure whole{.id = "program",
               .where = "Host-device synchronization",
               .title = fmt::format("copies in, SAXPY over {} elements, copy out", elements),
               .columns = {{"memory", ""}, {"whole", "ms"}, {"verified", ""}},
               .rows = {},
               .note = "By events; where it ran, verified against the host."};
  if (bench.info.is_virtual) whole.note += " Simulated, and smaller than published: bytes are really moved.";
  for (const Program& program : programs) {
    whole.rows.push_back({program.memory, ms(program.time), std::string(program.verified ? "yes" : "not run")});
    if (!program.time) whole.note += fmt::format(" {} memory: {}.", program.memory, program.why_not);
  }
  StepResult result{.figures = {copies_figure(bench, copies, why_not), whole}, .findings = {judge_program(programs)}};
  if (bench.info.is_virtual) {
    const std::string assumed =
        "that copies of pageable memory hold the host, and what a wait costs, is put into the "
        "simulation, not found by it";
    for (const char* claim : {"blocking", "transfers"})
      result.findings.push_back({.claim = claim,
                                 .verdict = Verdict::cannot_be_checked,
                                 .observed = "",
                                 .why = copies.empty() ? why_not : assumed});
  } else {
    result.findings.push_back(judge_blocking(copies));
    result.findings.push_back(judge_rates(copies));
  }
  return result;
}

}  // namespace shiplap::experiments::harris
