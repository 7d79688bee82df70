#include "cli/demo.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/pipeline/run.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "shiplap/report/gantt.hpp"
#include "shiplap/report/progress.hpp"
#include "shiplap/report/run_pictures.hpp"

namespace shiplap::cli {

void add_demo(CLI::App& app) {
  auto flags = std::make_shared<DemoFlags>();
  auto* command = app.add_subcommand("demo", "Move the same vectors by plain copies and by shiplap");
  declare_file(command->add_option("WORKLOAD", flags->workload, "built-in name with parameters, or a .json file"),
               FileUse::read, files_of_workload)
      ->capture_default_str();
  add_device_flag(*command, flags->node.device);
  add_all_flag(*command, flags->all, "say how each way was done, and draw the prediction too");
  add_json_flag(*command, flags->json);
  command->callback([flags] { run_demo(*flags); });
}

namespace {

/// A way to move the arrays that is shown.
struct Way {
  std::string_view name;
  MemoryKind memory;
  std::string_view strategy;  ///< "" for what the plan chooses
};
constexpr std::array ways{Way{"plain copies, pageable memory", MemoryKind::pageable, "pageable"},
                          Way{"shiplap, pageable memory", MemoryKind::pageable, ""},
                          Way{"copy, kernel, copy, pinned memory", MemoryKind::pinned, "explicit"},
                          Way{"shiplap, pinned memory", MemoryKind::pinned, ""}};

struct Shown {
  std::string name{};
  Seconds time{0};  ///< 0: it did not run
  std::string how{};
  std::string why_not{};  ///< why it did not run
};

template <class V, Like<Shown> R>
void describe(V& v, R& shown) {
  v.field("name", shown.name, "the way in words");
  v.or_null("choice", shown.how, "how it moves the arrays");
  v.or_null("time", shown.time, "observed or simulated time");
  v.or_null("why_not", shown.why_not, "why it did not run");
}

/// What the demo showed.
struct Demo {
  std::string workload{};
  std::string device{};
  bool simulated = false;
  std::vector<Shown> ways{};
};
template <class V, Like<Demo> R>
void describe(V& v, R& demo) {
  v.field("workload", demo.workload, "name of the workload");
  v.field("device", demo.device, "the device");
  v.field("simulated", demo.simulated, "whether the times are simulated");
  v.field("ways", demo.ways, "the ways, and last the bound");
}

constexpr unsigned timed_runs = 7;
constexpr unsigned untimed_runs = 2;

/// A verified run of the workload in one way, traced where its ops can be told apart. Arrays stay as they are: pinning
/// them would be another way.
Report run_in(const OpenedNode& opened, const Way& way, const std::string& name) {
  Workload workload = find_workload(name);
  put_into(workload, way.memory);
  require_memory_for_run(opened.node, workload.job);
  PlanOptions options{.may_pin = false};
  if (!way.strategy.empty()) options.space.strategies = {std::string(way.strategy)};
  PlannedWorkload planned = plan_workload(opened.node, workload, options);
  if (!planned.data) planned.data = std::make_unique<WorkloadData>(*opened.device, workload);
  WorkloadData& data = *planned.data;
  const bool is_real = opened.node.has_gpu();
  const Choice& choice = planned.plan.chosen.choice;
  Report report = run(*opened.device, planned.plan, data.job(),
                      {.repeats = is_real ? timed_runs : 1,
                       .warm_up = is_real ? untimed_runs : 0,
                       .trace = tells_ops_apart(opened.node, choice) ? Trace::best : Trace::none,
                       .refill = [&data] { data.refill(); },
                       .verify = [&data] { return data.verify(); }});
  report.require_right();
  return report;
}

std::string bars(const std::vector<Shown>& all, const TextStyle& style) {
  const Seconds slowest = std::ranges::max_element(all, {}, &Shown::time)->time;
  std::size_t names = 0;
  for (const Shown& one : all) names = std::max(names, display_width(one.name));
  constexpr std::size_t figures = 22;  // "  10.17 ms   7.2x"
  const std::size_t room = style.width - std::min(style.width - 10, names + figures);
  std::string out;
  for (const Shown& one : all) {
    if (!one.why_not.empty()) {
      out += fmt::format("{:<{}}  –\n", one.name, names);
      continue;
    }
    const auto length = static_cast<std::size_t>(std::ceil(one.time / slowest * static_cast<double>(room)));
    std::string bar;
    for (std::size_t i = 0; i < room; ++i) bar += i < length ? "█" : " ";
    out += fmt::format("{:<{}}  {}  {:>8}  {:>4.1f}x\n", one.name, names, bar, to_string(one.time), slowest / one.time);
  }
  return out;
}

/// The timeline of the run, in which copies and kernels overlap; "" for one of a single op, or whose ops cannot be told
/// apart.
std::string overlap_of(const Report& run, const TextStyle& style) {
  if (run.timeline.spans.size() < 2) return "";
  return gantt(*run.planned.schedule, run.timeline,
               {.style = style, .title = fmt::format("{}, {}", ways.back().name, to_string(run.timeline.makespan))}) +
         "\n";
}

constexpr const char* what_next = R"(Try it on what is yours:
  shiplap advise -- PROGRAM                         what it would gain
  shiplap plan --in 1GiB --out 1GiB --kernel 8ms    the fastest way for a job
  shiplap check                                     is this node fast enough?
)";

/// How many times as fast `second` is as `first`, as in "5.8 times as fast as plain copies"; "" unless both ran.
std::string gain(const Shown& first, const Shown& second, const char* name) {
  return first.time > Seconds{0} && second.time > Seconds{0}
             ? fmt::format("{:.1f} times as fast as {}", first.time / second.time, name)
             : "";
}

std::string answer_of(const std::vector<Shown>& shown, const Report& last) {
  std::string answer = last.job + ":";
  for (const std::string& part : {gain(shown[0], shown[1], "plain copies of pageable memory"),
                                  gain(shown[2], shown[3], "copy, kernel, copy in pinned memory")})
    if (!part.empty()) answer += (answer.ends_with(":") ? " shiplap is " : ", and ") + part;
  return answer + (last.simulated ? " (simulated times, real bytes)." : ".");
}

}  // namespace

void run_demo(const DemoFlags& flags) {
  const bool shows_all = detail_of(flags.all, flags.json) == document::Detail::all;
  const OpenedNode opened = open_node(flags.node);
  std::vector<Shown> shown;
  std::optional<Report> last;
  Progress progress;
  for (const Way& way : ways) {
    progress.update(fmt::format("{} …", way.name), shown.size() + 1, ways.size());
    try {
      last = run_in(opened, way, flags.workload);
      shown.push_back(
          {.name = std::string(way.name), .time = last->observed.value, .how = to_string(last->planned.choice)});
    } catch (const Unsupported& reason) {
      shown.push_back({.name = std::string(way.name), .why_not = reason.what()});
    }
  }
  progress.clear();
  if (!last) throw Unsupported(shown.front().why_not);
  if (last->bound) shown.push_back({.name = "limit of the link and the kernel", .time = *last->bound});
  if (flags.json) {
    show_simulation(opened, flags.node, true);
    return print_json(write_record(Demo{last->job, last->device, last->simulated, std::move(shown)}));
  }
  const TextStyle style = style_of_stdout();
  std::string text = bold(wrap(answer_of(shown, *last), style.width), style) + "\n\n" + bars(shown, style) + "\n";
  for (const Shown& one : shown)
    if (!one.why_not.empty()) text += wrap(fmt::format("{}: {}", one.name, one.why_not), style.width, "  ") + "\n";
  text += shows_all && !last->timeline.spans.empty() ? run_gantt(*last, style) + "\n" : overlap_of(*last, style);
  if (shows_all) {
    for (const Shown& one : shown)
      if (!one.how.empty()) text += wrap(fmt::format("{}: {}", one.name, one.how), style.width, "  ") + "\n";
    text += "\n";
  }
  text += "Every byte of every run was compared with the host reference.\n";
  print(text + what_next);
  show_simulation(opened, flags.node, false);
}

}  // namespace shiplap::cli
