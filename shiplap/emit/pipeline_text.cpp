#include "shiplap/emit/pipeline_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "shiplap/core/error.hpp"
#include "shiplap/emit/op_text.hpp"
#include "shiplap/workload/program_text.hpp"

namespace shiplap {
namespace {

/// Waits before an op.
struct Around {
  std::vector<OpId> awaited;       // ops of other agents that the agent waits for
  std::vector<OpId> synchronized;  // ops whose end on the GPU the agent waits for
  std::vector<OpId> waited;        // ops that the stream waits for
  bool recorded = false;
};

std::string indented(const std::string& text, const std::string& by) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
    out += (text[at] == '\n' ? "" : by) + text.substr(at, end - at);
    at = end;
  }
  return out;
}

class Writer {
 public:
  Writer(const Job& job, const Schedule& schedule, const Structure& structure, const Names& names,
         const std::string& launch)
      : schedule_(schedule),
        s_(structure),
        names_(names),
        ops_(job, schedule, structure, names, launch),
        say_(ops_.expressions()) {
    around_.resize(schedule.ops.size());
    for (const auto& steps : submission(schedule).agents)
      for (const SubmissionStep& step : steps) note(step);
  }

  PipelineText write() && {
    PipelineText out;
    for (const int pass : {0, 1}) {  // the second pass knows the names of all constants
      static_cast<void>(pass);
      out.functions.clear();
      for (std::size_t lane = 0; lane < s_.lanes.size(); ++lane)
        out.functions += (lane == 0 ? "" : "\n") + function(s_.lanes[lane], names_.lane[lane]);
    }
    out.functions = wrapped_code(out.functions);
    out.constants = say_.constants();
    out.tables = say_.tables();
    const auto sized = [&](std::size_t slot, const char* suffix) {
      return names_.slot[slot] + suffix + (s_.slots[slot].count > 1 ? fmt::format("[{}]", ops_.keys_name()) : "");
    };
    for (std::size_t slot = 0; slot < s_.slots.size(); ++slot) {
      if (recorded_.contains(slot)) out.events.push_back(sized(slot, "_done"));
      if (flagged_.contains(slot)) out.flags.push_back(sized(slot, "_made"));
    }
    out.ending = ending_;
    return out;
  }

 private:
  void note(const SubmissionStep& step) {
    Around& around = around_[step.op.index()];
    switch (step.kind) {
      case SubmissionStep::Kind::await:
        around.awaited.push_back(step.awaited);
        flagged_.insert(s_.slot[step.awaited.index()]);
        awaited_.insert(step.awaited);
        break;
      case SubmissionStep::Kind::synchronize:
        around.synchronized.push_back(last_of_batch(schedule_, step.awaited));
        break;
      case SubmissionStep::Kind::wait:
        around.waited.push_back(last_of_batch(schedule_, step.awaited));
        break;
      case SubmissionStep::Kind::record: {
        const OpId last = last_of_batch(schedule_, step.op);
        around_[last.index()].recorded = true;
        recorded_.insert(s_.slot[last.index()]);
        break;
      }
      case SubmissionStep::Kind::finish:
        ending_.push_back(step.stream);
        break;
      case SubmissionStep::Kind::submit:
        break;
    }
  }

  // Expression of an event or flag of another key, as in "kernel_done[c - ring]".
  std::string of_key(std::size_t slot, const char* suffix, const Series& target, const std::string& key) {
    const std::string name = names_.slot[slot] + suffix;
    if (s_.slots[slot].count == 1) return name;
    std::set<std::int64_t> back;
    std::set<std::int64_t> all;
    for (std::size_t k = 0; k < target.size(); ++k) {
      if (!target[k]) continue;
      back.insert(static_cast<std::int64_t>(k) - *target[k]);
      all.insert(*target[k]);
    }
    if (all.size() == 1 && (key.empty() || *all.begin() + 1 == s_.keys))
      return fmt::format("{}[{}]", name,
                         key.empty() ? std::to_string(*all.begin()) : fmt::format("{} - 1", ops_.keys_name()));
    if (back.size() == 1) {
      const std::int64_t by = *back.begin();
      return fmt::format("{}[{}{}]", name, key,
                         by == 0  ? ""
                         : by > 0 ? " - " + say_.count(by)
                                  : " + " + say_.count(-by));
    }
    const Expressions::Names names{
        .constant = "before_" + names_.slot[slot], .per_item = "", .stride = "step", .by_key = true};
    return fmt::format("{}[{}]", name, say_.value(target, names, key));
  }

  // Statements of one kind of wait before the ops of a slot.
  std::string waits(std::size_t slot, std::vector<OpId> Around::*kind, const char* suffix, const std::string& call,
                    const std::string& key) {
    // Waits by the slot that is waited for and the distance in keys, so that two waits of a key for one slot stay
    // separate.
    std::map<std::pair<std::size_t, std::int64_t>, Series> groups;
    std::vector<bool> present(s_.keys);
    std::set<std::size_t> twice;
    const auto each = [&](const auto& visit) {
      for (std::size_t k = 0; k < s_.keys; ++k)
        if (const OpId id = s_.slots[slot].ops[k]; !id.is_none())
          for (const OpId on : around_[id.index()].*kind) visit(k, on);
    };
    for (std::size_t k = 0; k < s_.keys; ++k) present[k] = !s_.slots[slot].ops[k].is_none();
    std::set<std::pair<std::size_t, std::size_t>> seen;
    each([&](std::size_t k, OpId on) {
      if (!seen.emplace(k, s_.slot[on.index()]).second) twice.insert(s_.slot[on.index()]);
    });
    each([&](std::size_t k, OpId on) {
      const std::size_t of = s_.slot[on.index()];
      const auto at = static_cast<std::int64_t>(s_.key[on.index()]);
      auto& series =
          groups.try_emplace({of, twice.contains(of) ? static_cast<std::int64_t>(k) - at : 0}, Series(s_.keys))
              .first->second;
      series[k] = at;
    });
    std::string out;
    for (const auto& [group, target] : groups) {
      std::vector<bool> when(s_.keys);
      for (std::size_t k = 0; k < s_.keys; ++k) when[k] = target[k].has_value();
      const std::string condition = say_.condition(when, present, key, "waits_" + names_.slot[slot]);
      const bool round_before = condition.ends_with(">= ring") || condition.ends_with(">= places");
      out += (condition.empty() ? "" : fmt::format("if ({}) ", condition)) +
             filled(call, {{"what", of_key(group.first, suffix, target, key)}, {"stream", ops_.stream(slot, key)}}) +
             (round_before ? "  // its slot is free\n" : "\n");
    }
    return out;
  }

  std::string after(std::size_t slot, const auto& wanted, const std::string& call, const char* suffix,
                    const std::string& key) {
    std::vector<bool> when(s_.keys), present(s_.keys);
    Series own(s_.keys);
    for (std::size_t k = 0; k < s_.keys; ++k) {
      const OpId id = s_.slots[slot].ops[k];
      present[k] = !id.is_none();
      when[k] = present[k] && wanted(id);
      if (present[k]) own[k] = static_cast<std::int64_t>(k);
    }
    if (std::ranges::none_of(when, [](bool w) { return w; })) return "";
    const std::string condition = say_.condition(when, present, key, "records_" + names_.slot[slot]);
    return (condition.empty() ? "" : fmt::format("if ({}) ", condition)) +
           filled(call, {{"what", of_key(slot, suffix, own, key)}, {"stream", ops_.stream(slot, key)}}) + "\n";
  }

  std::string statements(std::size_t slot, const std::string& key) {
    return waits(slot, &Around::awaited, "_made", "await({what});", key) +
           waits(slot, &Around::synchronized, "_done", "check(cudaEventSynchronize({what}));", key) +
           waits(slot, &Around::waited, "_done", "check(cudaStreamWaitEvent({stream}, {what}, 0));", key) +
           ops_.submit(slot, key) +
           (ops_.is_batched(slot) ? after(
                                        slot, [&](OpId id) { return last_of_batch(schedule_, id) == id; },
                                        "together.submit({stream});", "", key)
                                  : "") +
           after(
               slot, [&](OpId id) { return around_[id.index()].recorded; }, "check(cudaEventRecord({what}, {stream}));",
               "_done", key) +
           after(
               slot, [&](OpId id) { return awaited_.contains(id); }, "{what} = round_number.load();", "_made", key);
  }

  std::string body(const Lane& lane, std::size_t stage, const std::string& key) {
    std::vector<bool> within(s_.keys);
    for (const Run& run : lane.runs)
      if (run.stage == stage) std::fill(within.begin() + run.first, within.begin() + run.last, true);
    std::string out;
    for (const std::size_t slot : lane.stages[stage]) {
      std::vector<bool> present(s_.keys);
      for (std::size_t k = 0; k < s_.keys; ++k) present[k] = !s_.slots[slot].ops[k].is_none();
      const std::string condition = say_.condition(present, within, key, "has_" + names_.slot[slot]);
      const std::string text = statements(slot, key);
      out += condition.empty() ? text : fmt::format("if ({}) {{\n{}}}\n", condition, indented(text, "  "));
    }
    return say_.definitions(out, key) + out;
  }

  std::string function(const Lane& lane, const std::string& name) {
    const std::string all = ops_.keys_name();
    std::string out;
    for (const std::size_t slot : lane.once) out += statements(slot, "");
    const auto loop = [](const std::string& from, const std::string& to, const std::string& step,
                         const std::string& text) {
      return fmt::format("for (int c = {}; c < {}; {}) {{\n{}}}\n", from, to, step, indented(text, "  "));
    };
    if (lane.agents > 1) {
      const std::string threads = say_.constant("workers", lane.agents);
      out += s_.by_agent ? body(lane, 0, "t") : loop("t", all, "c += " + threads, body(lane, 0, "c"));
    } else if (lane.runs.size() == lane.stages.size()) {
      for (const Run& run : lane.runs)
        out += loop(std::to_string(run.first), run.last == s_.keys ? all : std::to_string(run.last), "++c",
                    body(lane, run.stage, "c"));
    } else {
      const std::string batch = say_.count(lane.runs.front().last - lane.runs.front().first);
      std::string loops = fmt::format("const int end = std::min(begin + {}, {});\n", batch, all);
      for (std::size_t stage = 0; stage < lane.stages.size(); ++stage)
        loops += loop("begin", "end", "++c", body(lane, stage, "c"));
      out += fmt::format("for (int begin = 0; begin < {}; begin += {}) {{\n{}}}\n", all, batch, indented(loops, "  "));
    }
    const std::string comment =
        lane.agents > 1 && !s_.by_agent
            ? fmt::format("// Thread t of {0}: chunk t and every {0}th after it.\n", lane.agents)
        : lane.agents > 1     ? fmt::format("// Thread t of {}.\n", lane.agents)
        : s_.lanes.size() > 1 ? "// The work of one thread.\n"
                              : "// Makes the calls of one run.\n";
    return fmt::format("{}void {}({}) {{\n{}}}\n", comment, name, lane.agents > 1 ? "int t" : "", indented(out, "  "));
  }

  const Schedule& schedule_;
  const Structure& s_;
  const Names& names_;
  std::vector<Around> around_;
  std::set<std::size_t> recorded_, flagged_;  // slots whose event is recorded, or whose flag is set
  std::set<OpId> awaited_;
  std::vector<StreamId> ending_;
  OpText ops_;
  Expressions& say_;
};

}  // namespace

PipelineText pipeline_text(const Job& job, const Schedule& schedule, const Structure& structure, const Names& names,
                           const std::string& launch) {
  return Writer(job, schedule, structure, names, launch).write();
}

std::string wrapped_code(const std::string& text) {
  constexpr std::size_t width = 120;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    const std::string indent(line.find_first_not_of(' ') == std::string::npos ? 0 : line.find_first_not_of(' '), ' ');
    while (line.size() > width) {
      const auto comma = line.rfind(", ", width - 1);
      if (comma == std::string::npos || comma <= indent.size() + 4) break;
      out += line.substr(0, comma + 1) + "\n";
      line = indent + "    " + line.substr(comma + 2);
    }
    out += line + "\n";
  }
  return out;
}

}  // namespace shiplap
