#include "shiplap/advise/advice_view.hpp"

#include <nlohmann/json.hpp>

#include "shiplap/core/formats.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/record.hpp"

namespace shiplap {
namespace {

constexpr std::size_t longest_command = 70;  // characters

StepWork work_of(const ProgramStep& step) {
  StepWork work;
  work.moved_in = step.migrations.to_device;
  work.moved_out = step.migrations.to_host;
  for (const StepOp& op : step.ops) {
    const bool is_kernel = op.work == StepOp::Work::kernel || op.work == StepOp::Work::graph;
    work.kernels += op.kind == StepOp::Kind::kernel && is_kernel ? 1 : 0;
    work.waits += op.kind == StepOp::Kind::wait ? 1 : 0;
    if (op.kind != StepOp::Kind::copy) continue;
    (op.to_device ? work.in : work.out) += op.size;
    if (op.host_memory == MemoryKind::pageable) (op.to_device ? work.in_pageable : work.out_pageable) += op.size;
  }
  return work;
}

std::optional<TimelineView> view_of(const SimulatedStep& step) {
  if (step.schedule.ops.empty()) return std::nullopt;
  return timeline_view(step.schedule, step.timeline);
}

}  // namespace

AdviceView advice_view(const Advised& advised) {
  return {.program = advised.program,
          .gpu = advised.gpu,
          .languages = advised.languages,
          .profile = advised.profile,
          .rates = advised.link.rates,
          .assumed_link = advised.link.assumed,
          .tells_link = advised.link.is_recorded,
          .inferred_waits = advised.inferred_waits,
          .failed = advised.failed,
          .step = advised.step.time,
          .steps = advised.step.repeats,
          .ops = advised.step.ops.size(),
          .work = work_of(advised.step),
          .coverage = advised.coverage,
          .levels = advised.levels,
          .left_out = advised.left_out,
          .initialisation = advised.initialisation,
          .simulated = advised.recorded.time,
          .fidelity = advised.fidelity,
          .slowed_by_recording = advised.slowed_by_recording,
          .refused = advised.refused,
          .limit = advised.limit,
          .advice = advised.advice,
          .recorded_timeline = view_of(advised.recorded),
          .advised_timeline = advised.advised ? view_of(*advised.advised) : std::nullopt};
}

std::string short_command(const std::string& program) {
  std::string text;
  for (std::size_t at = 0; at < program.size();) {
    const std::size_t end = std::min(program.find(' ', at), program.size());
    const std::string word = program.substr(at, end - at);
    text += (text.empty() ? "" : " ") + word.substr(word.rfind('/') + 1);
    at = end + 1;
  }
  return printable(text, longest_command);
}

template <class V, Like<StepWork> R>
void describe(V& v, R& work) {
  v.field("in", work.in, "bytes that are copied to the GPU");
  v.field("in_pageable", work.in_pageable, "those of them that come from pageable memory");
  v.field("out", work.out, "bytes that are copied to the host");
  v.field("out_pageable", work.out_pageable, "those of them that go into pageable memory");
  v.added("moved_in", work.moved_in, "bytes of managed memory that move to the GPU");
  v.added("moved_out", work.moved_out, "bytes of managed memory that move to the host");
  v.field("kernels", work.kernels, "number of kernels");
  v.field("waits", work.waits, "how often the host waits for the GPU");
}
template <class V, Like<StepLevel> R>
void describe(V& v, R& level) {
  v.field("steps", level.steps, "number of steps");
  v.field("ops", level.ops, "copies, kernels and fills of one, in the mean");
  v.field("is_chosen", level.is_chosen, "whether the step of the advice is one of these");
}
template <class V, Like<HowTo> R>
void describe(V& v, R& how) {
  v.field("language", how.language, "language or library");
  v.field("text", how.text, "how it is done, in one or two sentences");
}
template <class V, Like<Advice> R>
void describe(V& v, R& advice) {
  v.field("rule", advice.rule, "name of the rule");
  v.field("what", advice.what, "what to change");
  v.field("allowed_if", advice.allowed_if, "what must hold, which no recording can tell");
  v.field("how", advice.how, "how it is done in each language");
  v.field("once", advice.once, "time that the change costs once");
  v.field("bound", advice.bound, "whether the step takes at least as long as predicted");
  v.field("step", advice.step, "predicted time of the step with this change alone");
  v.added(
      "needs_before", advice.needs_before,
      "whether the change does not apply without those before it in the list, so that `step` is the time with them");
  v.field("with_before", advice.with_before, "predicted time with this change and those before it in the list");
}
template <class V, Like<AdviceView> R>
void describe(V& v, R& view) {
  v.header(formats::advice);
  v.field("program", view.program, "command line of the program");
  v.field("gpu", view.gpu, "name of the GPU that was recorded");
  v.field("languages", view.languages, "languages and libraries that the program seems to use");
  v.field("profile", view.profile, "name of the profile that predictions are from");
  v.added("rates", view.rates, "rates of copies that were recorded, and that predictions have; empty: none");
  v.added("assumed_link", view.assumed_link, "whose link predictions have; empty: that of the recording");
  v.added("tells_link", view.tells_link, "whether recorded copies tell how fast the recorded link is");
  v.added("inferred_waits", view.inferred_waits, "whether it is a guess for which streams and events the host waits");
  v.added("failed", view.failed, "which calls failed, as sentences; empty: none, or the recording does not say");
  v.field("step", view.step, "recorded time of a step: the median and the quartiles");
  v.field("steps", view.steps, "number of recorded steps of this kind; 0: no step was found");
  v.field("ops", view.ops, "copies, kernels and waits of a step");
  v.added("work", view.work, "what a step does");
  v.field("coverage", view.coverage, "fraction of the recorded time of copies and kernels that is in steps",
          InUnit{"1"});
  v.added("levels", view.levels, "steps that nest, such as epochs and batches, from the largest to the smallest");
  v.added("left_out", view.left_out, "rules that do not hold because the step was recorded once; else empty");
  v.added("initialisation", view.initialisation,
          "time of calls before the first copy or kernel, and of what first launches and first copies prepare; no step "
          "contains it");
  v.field("simulated", view.simulated, "time of the recorded step in the simulation");
  v.field("fidelity", view.fidelity, "simulated over recorded time, minus 1", InUnit{"1"});
  v.field("slowed_by_recording", view.slowed_by_recording, "whether the program is so dense that recording slowed it");
  v.field("refused", view.refused, "why there is no advice at all; empty: there may be");
  v.field("limit", view.limit, "what limits the step in the end, as a sentence");
  v.field("advice", view.advice, "what saves most comes first, and then what saves most together with it");
  v.field("recorded_timeline", view.recorded_timeline, "simulated times of a few recorded steps; null without a step");
  v.field("advised_timeline", view.advised_timeline,
          "simulated times of the steps with all advice; null without advice");
}

Json to_json(const AdviceView& view) { return write_record(view); }
void from_json(const JsonReader& json, AdviceView& view) {
  read_record(json, view);
  if (!view.advice.empty()) json.at("step").at("value").positive();
}
Json json_schema(const AdviceView&) {
  return document_schema<AdviceView>(
      "shiplap advice",
      "What another way of moving its data would take for a recorded program, as `shiplap advise --json` prints it.");
}

}  // namespace shiplap
