#include "shiplap/report/advice_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/report/svg.hpp"
#include "shiplap/report/trace.hpp"

namespace shiplap {
namespace {

constexpr std::size_t longest_program = 70;  // characters

/// The command line with paths reduced to the names of their files, and cut off where it is long.
std::string shortened(const std::string& program) {
  std::string text;
  for (std::size_t at = 0; at < program.size();) {
    const std::size_t end = std::min(program.find(' ', at), program.size());
    const std::string word = program.substr(at, end - at);
    text += (text.empty() ? "" : " ") + word.substr(word.rfind('/') + 1);
    at = end + 1;
  }
  return printable(text, longest_program);
}

std::string copied(const ProgramStep& step, bool to_device) {
  Bytes pageable, pinned;
  for (const StepOp& op : step.ops)
    if (op.kind == StepOp::Kind::copy && op.to_device == to_device)
      (op.host_memory == MemoryKind::pageable ? pageable : pinned) += op.size;
  std::string text = to_string(pageable + pinned);
  if (pageable.count > 0) text += pinned.count > 0 ? fmt::format(" ({} pageable)", to_string(pageable)) : " (pageable)";
  return text + (to_device ? " to the GPU" : " to the host");
}

std::string what_a_step_does(const ProgramStep& step) {
  std::size_t kernels = 0, waits = 0;
  for (const StepOp& op : step.ops) {
    kernels += op.kind == StepOp::Kind::kernel ? 1 : 0;
    waits += op.kind == StepOp::Kind::wait ? 1 : 0;
  }
  return fmt::format("{}, {} kernel{}, {}, {} wait{} of the host", copied(step, true), kernels, kernels == 1 ? "" : "s",
                     copied(step, false), waits, waits == 1 ? "" : "s");
}

std::string saved(const Advised& advised, Seconds step) {
  const Seconds per_step = advised.step.time.value - step;
  return percent(per_step / advised.step.time.value);
}

std::string table_of(const Advised& advised, const TextStyle& style) {
  Table table{.columns = {{"", Align::right},
                          {"advice", Align::left},
                          {"alone", Align::right},
                          {"with those above", Align::right},
                          {"saved", Align::right},
                          {"once", Align::right}}};
  std::size_t number = 0;
  for (const Advice& one : advised.advice)
    table.add({std::to_string(++number), one.rule, (one.bound ? "≥ " : "") + to_string(one.step.value),
               one.bound ? "≥ " + to_string(one.with_before.value) : with_interval(one.with_before),
               saved(advised, one.with_before.value), one.once > Seconds{0} ? to_string(one.once) : "–"});
  return table.text(style);
}

std::string how_to(const Advice& advice, const std::vector<std::string>& languages, std::size_t number,
                   const TextStyle& style, document::Detail detail) {
  std::string text = wrap(fmt::format("{}. {}.", number, advice.what), style.width, "   ") + "\n";
  if (detail != document::Detail::all) return text;
  text += "   " + wrap("Only if: " + advice.allowed_if, style.width - 3, "   ") + "\n";
  if (advice.bound)
    text +=
        "   " + wrap("The predicted time is a bound: the step takes at least as long.", style.width - 3, "   ") + "\n";
  for (const HowTo& how : advice.how)
    if (std::ranges::find(languages, how.language) != languages.end())
      text += "   " + wrap(fmt::format("{}: {}", how.language, how.text), style.width - 3, "     ") + "\n";
  return text;
}

std::string whole_program(const Advised& advised) {
  const Advice& last = advised.advice.back();
  const Seconds saved = (advised.step.time.value - last.with_before.value) * static_cast<double>(advised.step.repeats);
  const bool bound = std::ranges::any_of(advised.advice, &Advice::bound);
  return fmt::format("All of it together: {}{} instead of {} a step, {} less for the {} steps that were recorded.",
                     bound ? "at least " : "", to_string(last.with_before.value), to_string(advised.step.time.value),
                     to_string(saved), advised.step.repeats);
}

/// The time of a step now and with all advice: "infer.py: 3.890 ms → 667.0 µs a step (−82.9 %), predicted."
std::string answer_of(const Advised& advised) {
  const std::string program = shortened(advised.program);
  if (!advised.refused.empty()) return fmt::format("{}: no advice. {}", program, advised.refused);
  if (advised.advice.empty()) return fmt::format("{}: nothing to gain here. {}", program, advised.limit);
  const Advice& last = advised.advice.back();
  return fmt::format("{}: {} → {}{} a step ({}), predicted.", program, to_string(advised.step.time.value),
                     std::ranges::any_of(advised.advice, &Advice::bound) ? "at least " : "",
                     to_string(last.with_before.value),
                     signed_percent(last.with_before.value / advised.step.time.value - 1));
}

}  // namespace

std::string advice_report(const Advised& advised, const TextStyle& style, document::Detail detail) {
  std::string out = wrap(answer_of(advised), style.width) + "\n" +
                    wrap(fmt::format("On {}, profile {}.", advised.gpu, advised.profile), style.width) + "\n";
  if (advised.step.repeats > 0) {
    out += wrap(fmt::format(
                    "A step takes {} ({} to {} for half of the {} steps recorded; {} of all work is in steps): {}.",
                    to_string(advised.step.time.value), to_string(advised.step.time.low),
                    to_string(advised.step.time.high), advised.step.repeats, percent(advised.coverage),
                    what_a_step_does(advised.step)),
                style.width) +
           "\n";
    std::string simulated = fmt::format("The simulation of the recording takes {} a step ({}).",
                                        to_string(advised.recorded.time), signed_percent(advised.fidelity));
    if (advised.slowed_by_recording)
      simulated += " Recording slows a program as dense as this one, and the simulation does not have that.";
    out += wrap(simulated, style.width) + "\n";
  }
  if (!advised.refused.empty() || advised.advice.empty()) return out;
  out += "\n" + table_of(advised, style) + "\n" + wrap(whole_program(advised), style.width) + "\n" +
         wrap(advised.limit, style.width) + "\n\n";
  std::size_t number = 0;
  for (const Advice& one : advised.advice) out += how_to(one, advised.languages, ++number, style, detail);
  if (detail != document::Detail::all) out += "\n--all says how, in code, and when each change is allowed.\n";
  return out;
}

std::string advice_svg(const Advised& advised) {
  if (advised.recorded.schedule.ops.empty()) throw Error("there is no step to draw: " + advised.refused);
  std::vector<SvgPanel> panels{{"recorded", advised.recorded.schedule, advised.recorded.timeline}};
  if (advised.advised) panels.push_back({"advised", advised.advised->schedule, advised.advised->timeline});
  return svg(panels, {.title = shortened(advised.program),
                      .subtitle = fmt::format("{} a step, {}", to_string(advised.step.time.value), advised.gpu),
                      .numbers = "step"});
}

Json advice_trace(const Advised& advised) {
  if (advised.recorded.schedule.ops.empty()) throw Error("there is no step to draw: " + advised.refused);
  std::vector<TraceProcess> processes{{"recorded", advised.recorded.schedule, advised.recorded.timeline}};
  if (advised.advised) processes.push_back({"advised", advised.advised->schedule, advised.advised->timeline});
  return chrome_trace(processes);
}

}  // namespace shiplap
