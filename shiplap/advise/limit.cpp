#include "shiplap/advise/limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

namespace shiplap {
namespace {

/// The name of a kernel without its parameters and those of its template: "add" for "void add<float>(float*, int)".
std::string_view without_parameters(std::string_view name) {
  constexpr std::string_view result = "void ";
  if (name.starts_with(result)) name.remove_prefix(result.size());
  return name.substr(0, std::max<std::size_t>(1, name.find_first_of("<(")));
}

/// The kernel that takes longest, where it matters and has fewer blocks than the GPU has SMs; "" where it fills the
/// GPU.
std::string few_blocks(const ProgramStep& step, const Profile& profile) {
  constexpr double matters = 0.1;                                       // fraction of the step
  std::map<std::pair<std::string_view, std::uint64_t>, Seconds> times;  // by name and grid
  const StepOp* longest = nullptr;
  Seconds most{0};
  for (const StepOp& op : step.ops) {
    if (op.kind != StepOp::Kind::kernel || op.work != StepOp::Work::kernel) continue;
    const Seconds time = times[{op.name, op.grid}] += op.time;
    if (time <= most) continue;
    most = time;
    longest = &op;
  }
  if (longest == nullptr || profile.gpus.empty()) return "";
  const unsigned sms = profile.gpus.front().sm_count;
  if (longest->grid >= sms || most < step.time.value * matters) return "";
  const auto counted = [](std::uint64_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
  };
  return fmt::format(" The longest kernel, {}, has {} of {} for {} SMs: more blocks would use more of the GPU.",
                     without_parameters(longest->name), counted(longest->grid, "block"),
                     counted(longest->threads, "thread"), sms);
}

/// The part of the host's time in a step that it spends in calls of CUDA and not in the program's own code.
double part_in_calls(const ProgramStep& step) {
  Seconds calls{0}, own = step.host_after;
  for (const StepOp& op : step.ops) {
    calls += op.call + op.returning + op.allocating;
    own += op.host_before - op.allocating;
  }
  return calls > Seconds{0} ? calls / (calls + own) : 0;
}

/// The call of a kernel in a program that runs once that takes a large part of it, or null: a first launch loads
/// modules.
const StepOp* long_launch(const ProgramStep& step) {
  constexpr double large = 0.3;
  if (!step.once || step.ops.empty()) return nullptr;
  const auto longest = std::ranges::max_element(
      step.ops, {}, [](const StepOp& op) { return op.kind == StepOp::Kind::kernel ? op.call : Seconds{0}; });
  return longest->kind == StepOp::Kind::kernel && longest->call > step.time.value * large ? &*longest : nullptr;
}

std::string limit_of_host(double busy, const ProgramStep& step) {
  constexpr std::size_t many_calls = 16;
  const double calls = part_in_calls(step);
  const StepOp* const launch = long_launch(step);
  const std::string why =
      launch != nullptr ? fmt::format(
                              ": the launch of {} alone takes {}; a first launch loads modules, so launch it once "
                              "before, or set CUDA_MODULE_LOADING=EAGER",
                              without_parameters(launch->name), to_string(launch->call))
      : calls < 0.5                   ? " and the rest in the program's own code"
      : step.ops.size() >= many_calls ? ": fewer and larger kernels and copies, or a graph of them, would take less"
                                      : "";
  return fmt::format("The host is busy for {:.0f} % of the time, {:.0f} % of it in calls of CUDA{}.", busy * 100,
                     calls * 100, why);
}

/// Whether most of the bytes of a direction are in pageable memory, whose copies take as long as their calls.
bool is_mostly_pageable(const ProgramStep& step, bool to_device) {
  Bytes pageable, all;
  for (const StepOp& op : step.ops) {
    if (op.kind != StepOp::Kind::copy || op.to_device != to_device) continue;
    all += op.size;
    if (op.host_memory == MemoryKind::pageable) pageable += op.size;
  }
  return pageable.count * 2 > all.count;
}

std::string limit_of_engines(const Timeline& timeline, const ProgramStep& step) {
  const auto busy = [&](Engine engine) {
    return timeline.makespan > Seconds{0} ? busy_time(timeline, engine) / timeline.makespan : 0;
  };
  const double kernels = busy(Engine::compute);
  const double in = busy(Engine::copy_h2d);
  const double out = busy(Engine::copy_d2h);
  const double host = busy(Engine::host);
  const double most = std::max({kernels, in, out, host});
  if (most == kernels) return fmt::format("Kernels are busy for {:.0f} % of the time.", kernels * 100);
  if (most == host) return limit_of_host(host, step);
  const bool to_device = in > out;
  const char* where = to_device ? "to the GPU" : "to the host";
  return is_mostly_pageable(step, to_device)
             ? fmt::format("Calls that copy pageable memory {} take {:.0f} % of the time.", where, most * 100)
             : fmt::format("Copies {} are busy for {:.0f} % of the time.", where, most * 100);
}

}  // namespace

std::string limit_of(const SimulatedStep& step, const ProgramStep& program, const Profile& profile) {
  return limit_of_engines(step.timeline, program) + few_blocks(program, profile);
}

std::string what_else_would_help(const SimulatedStep& step) {
  constexpr double mostly = 0.5;
  const Timeline& timeline = step.timeline;
  if (timeline.makespan <= Seconds{0} || busy_time(timeline, Engine::copy_h2d) < timeline.makespan * mostly) return "";
  return " Fewer bytes alone would help: keep on the GPU what does not change.";
}

std::string what_the_gpu_did(const Recording& recording) {
  Seconds in{0}, out{0}, kernels{0}, all{0};
  Bytes bytes_in, bytes_out;
  for (const Record& record : recording.records) {
    const auto work = work_of(record);
    if (!work) continue;
    const Seconds time = between(work->time.start, work->time.end);
    all += time;
    if (const auto* copy = std::get_if<RecordedCopy>(&record)) {
      const bool is_in = copy->from != MemoryKind::device, is_out = !is_in && copy->to != MemoryKind::device;
      if (is_in) in += time;
      if (is_in) bytes_in += copy->size;
      if (is_out) out += time;
      if (is_out) bytes_out += copy->size;
    } else if (std::holds_alternative<RecordedKernel>(record)) {
      kernels += time;
    }
  }
  if (all <= Seconds{0}) return "";
  return fmt::format(
      "Of the GPU's time copies to it take {:.0f} % ({}), copies to the host {:.0f} % ({}) and kernels {:.0f} %.",
      in / all * 100, to_string(bytes_in), out / all * 100, to_string(bytes_out), kernels / all * 100);
}

}  // namespace shiplap
