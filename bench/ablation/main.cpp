// Switches off one term of the model, or one dimension of the search, at a time, and says what that costs: by how much
// the choice that is then planned is slower, by the full model, than the choice of the full model, and by how much the
// predicted time of the full choice changes. A term that changes neither on any profile earns no place.
//
//   ablation JOBS SEED [PROFILE ...]
//   ablation --recorded EVALUATION.csv PROFILE
//
// The second form takes the points of an evaluation on a device, and says what the 95th percentile of their errors is
// without each term.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/core/text_file.hpp"
#include "shiplap/evaluate/random_jobs.hpp"
#include "shiplap/pipeline/profile_cache.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/profile/what_if.hpp"
#include "shiplap/workload/workload.hpp"

namespace {

using namespace shiplap;

struct Switch {
  std::string name;
  std::function<void(Profile&)> term{};
  std::function<void(SearchSpace&)> dimension{};
};

void for_directions(Profile& p, const auto& change) {
  for (LinkModel& link : p.links)
    for (DirectionModel* d : {&link.h2d, &link.d2h}) change(*d);
}
void for_gpus(Profile& p, const auto& change) {
  for (GpuModel& gpu : p.gpus) change(gpu);
}

const std::vector<Switch>& switches() {
  static const std::vector<Switch> all{
      {"duplex: G and g", [](Profile& p) { for_directions(p, [](DirectionModel& d) { d.duplex.reset(); }); }},
      {"duplex: g",
       [](Profile& p) {
         for_directions(p, [](DirectionModel& d) {
           if (d.duplex) d.duplex->gaps.clear();
         });
       }},
      {"g of batches", [](Profile& p) { for_directions(p, [](DirectionModel& d) { d.batched.clear(); }); }},
      {"sizes of L+o and g",
       [](Profile& p) {
         for_directions(p, [](DirectionModel& d) {
           if (!d.costs.empty()) d.costs = {d.costs.back()};
         });
       }},
      {"waiting streams",
       [](Profile& p) {
         for (LinkModel& l : p.links) l.waiting_streams.reset();
       }},
      {"zero-copy: both",
       [](Profile& p) {
         for (LinkModel& l : p.links)
           if (l.zero_copy) l.zero_copy->both.clear();
       }},
      {"zero-copy: concurrent with copies",
       [](Profile& p) {
         for (LinkModel& l : p.links)
           if (l.zero_copy) l.zero_copy->read_beside_d2h.clear(), l.zero_copy->write_beside_h2d.clear();
       }},
      {"pageable: both",
       [](Profile& p) {
         for (LinkModel& l : p.links)
           if (l.pageable) l.pageable->both.clear();
       }},
      {"host: staging through rings",
       [](Profile& p) {
         if (p.host) p.host->staging.clear();
       }},
      {"host: just written",
       [](Profile& p) {
         if (p.host) p.host->written.clear();
       }},
      {"groups of streams", [](Profile& p) { for_gpus(p, [](GpuModel& g) { g.stream_groups.reset(); }); }},
      {"kernel gap", [](Profile& p) { for_gpus(p, [](GpuModel& g) { g.kernel_gap.reset(); }); }},
      {"handovers", [](Profile& p) { for_gpus(p, [](GpuModel& g) { g.handovers.reset(); }); }},
      {"handovers: other stream as same",
       [](Profile& p) {
         for_gpus(p, [](GpuModel& g) {
           if (!g.handovers) return;
           g.handovers->h2d_other_stream = g.handovers->h2d_same_stream;
           g.handovers->d2h_other_stream = g.handovers->d2h_same_stream;
         });
       }},
      {"submission: copies", [](Profile& p) { p.submission.copy.reset(); }},
      {"submission: launches", [](Profile& p) { p.submission.launch.reset(); }},
      {"submission: events", [](Profile& p) { p.submission.event_record.reset(), p.submission.event_wait.reset(); }},
      {"submission: copies of a batch", [](Profile& p) { p.submission.batched_copy.reset(); }},
      {"submission: graphs", [](Profile& p) { p.submission.graph_launch.reset(), p.submission.graph_op.reset(); }},
      {"search: more layouts",
       {},
       [](SearchSpace& s) {
         s.layouts = {Layout::three, Layout::few, Layout::per_chunk};
       }},
      {"search: orders", {}, [](SearchSpace& s) { s.orders = {IssueOrder::depth}; }},
      {"search: ramps", {}, [](SearchSpace& s) { s.ramps = {Ramp{}}; }},
      {"search: graphs and batches", {}, [](SearchSpace& s) { s.fewer_calls = false; }},
      {"search: smaller grids", {}, [](SearchSpace& s) { s.max_grids = {0}; }},
  };
  return all;
}

/// The cells of a line of CSV, where a cell in quotation marks may hold commas.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

/// A point of an evaluation: what was predicted and observed then.
struct RecordedPoint {
  Workload workload;
  Choice choice{};
  double predicted_ms = 0;
  double observed_ms = 0;
  bool is_steady = false;
};

std::vector<RecordedPoint> recorded_points(const std::string& file, const Profile& profile) {
  std::istringstream lines(read_text_file(file));
  std::string line;
  std::getline(lines, line);
  std::map<std::string, std::size_t> column;
  for (const std::string& name : cells_of(line)) column.emplace(name, column.size());
  std::vector<RecordedPoint> points;
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = cells_of(line);
    const auto cell = [&](const char* name) { return cells.at(column.at(name)); };
    const auto number = [&](const char* name) {
      return cell(name).empty() ? 0u : static_cast<unsigned>(std::stoul(cell(name)));
    };
    RecordedPoint point{.workload = find_workload(cell("workload"))};
    put_into(point.workload, parse_array_memory(cell("memory")));
    if (point.workload.job.cost.points.empty()) point.workload.job.cost = derived_cost(point.workload.job, profile);
    Choice& c = point.choice;
    c.strategy = cell("strategy");
    c.chunks = number("chunks");
    if (cell("ramp") != "none") c.ramp = parse_ramp(cell("ramp"));
    parse_layout(cell("layout"), c);
    if (number("streams") > 0) c.streams = number("streams");
    c.order = parse_order(cell("order"));
    c.max_grid = number("blocks");
    c.threads = number("threads");
    c.graph = cell("graph") == "true";
    c.batched = cell("batched") == "true";
    point.predicted_ms = std::stod(cell("predicted_ms"));
    point.observed_ms = std::stod(cell("observed_ms"));
    point.is_steady = std::stod(cell("spread")) <= 0.05;
    points.push_back(std::move(point));
  }
  return points;
}

void print_recorded(const std::string& file, Profile full) {
  full.measurements.clear();
  const std::vector<RecordedPoint> points = recorded_points(file, full);
  std::vector<double> times;
  for (const RecordedPoint& p : points) {
    try {
      times.push_back(predict(p.workload.job, full, p.choice).predicted.value.count());
    } catch (const Error&) {
      times.push_back(0);
    }
  }
  for (const Switch& s : switches()) {
    if (!s.term) continue;
    Profile without = full;
    s.term(without);
    std::vector<double> before;
    std::vector<double> after;
    std::vector<double> changes;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const RecordedPoint& p = points[i];
      if (!p.is_steady || times[i] == 0) continue;
      try {
        const double ratio = predict(p.workload.job, without, p.choice).predicted.value.count() / times[i];
        before.push_back(std::abs(p.predicted_ms / p.observed_ms - 1));
        after.push_back(std::abs(p.predicted_ms * ratio / p.observed_ms - 1));
        changes.push_back(std::abs(ratio - 1));
      } catch (const Error&) {
        continue;
      }
    }
    if (after.empty()) {
      fmt::print("{:32} nothing predicted\n", s.name);
      continue;
    }
    fmt::print(
        "{:32} {:4} points, error with it: median {:5.2f} %, 95th {:6.2f} %; without: {:5.2f} %, {:6.2f} %; times "
        "95th {:6.2f} %\n",
        s.name, after.size(), 100 * median(before), 100 * quantile(before, 0.95), 100 * median(after),
        100 * quantile(after, 0.95), 100 * quantile(changes, 0.95));
  }
}

struct Effect {
  std::vector<double> regrets{};
  std::vector<double> changes{};
  std::string worst{};
  unsigned failed = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && argv[1] == std::string("--recorded")) {
    print_recorded(argv[2], find_any_profile(argv[3]));
    return 0;
  }
  const std::size_t count = std::stoul(argv[1]);
  const std::uint64_t seed = std::stoull(argv[2]);
  std::map<std::string, std::map<std::string, Effect>> effects;  // by switch, then profile
  const std::vector<std::string> profiles(argv + 3, argv + argc);
  for (const std::string& name : profiles) {
    Profile full = find_profile(name);
    if (full.links.empty()) full = with_link(full, "pcie3");
    full.measurements.clear();
    std::size_t number = 0;
    for (const std::string& text : random_workloads(count, seed)) {
      Workload w = find_workload(text);
      const MemoryKind kinds[] = {MemoryKind::pinned, MemoryKind::pinned, MemoryKind::pageable, MemoryKind::managed};
      const MemoryKind kind = kinds[number++ % 4];
      put_into(w, kind);
      try {
        if (w.job.cost.points.empty()) w.job.cost = derived_cost(w.job, full);
        const Ranking ranking = rank(w.job, full);
        const Choice choice = ranking.best().choice;
        const double time = ranking.best().predicted.value.count();
        for (const Switch& s : switches()) {
          Effect& e = effects[s.name][name];
          try {
            Profile p = full;
            SearchSpace space;
            if (s.term) s.term(p);
            if (s.dimension) s.dimension(space);
            const Choice other = rank(w.job, p, space).best().choice;
            const double regret = other == choice ? 0 : predict(w.job, full, other).predicted.value.count() / time - 1;
            if (e.regrets.empty() || regret > std::ranges::max(e.regrets))
              e.worst =
                  fmt::format("{} ({}): {} instead of {}", text, to_string(kind), to_string(other), to_string(choice));
            e.regrets.push_back(regret);
            if (s.term) e.changes.push_back(std::abs(predict(w.job, p, choice).predicted.value.count() / time - 1));
          } catch (const Error&) {
            ++e.failed;
          }
        }
      } catch (const Error& error) {
        fmt::print(stderr, "{} on {}: {}\n", text, name, error.what());
      }
    }
  }
  for (const Switch& s : switches()) {
    fmt::print("{}\n", s.name);
    for (const auto& [profile, e] : effects[s.name]) {
      if (e.regrets.empty()) {
        fmt::print("  {:20} nothing planned, {} failed\n", profile, e.failed);
        continue;
      }
      const auto above = std::ranges::count_if(e.regrets, [](double r) { return r > 0.01; });
      fmt::print(
          "  {:20} {:3} jobs, {:3} above 1 %, 95th {:6.2f} %, worst {:7.2f} %; times 95th {:6.2f} %, worst {:7.2f} "
          "%{}{}\n",
          profile, e.regrets.size(), above, 100 * quantile(e.regrets, 0.95), 100 * std::ranges::max(e.regrets),
          e.changes.empty() ? 0 : 100 * quantile(e.changes, 0.95),
          e.changes.empty() ? 0 : 100 * std::ranges::max(e.changes),
          e.failed ? fmt::format(", {} failed", e.failed) : "", above > 0 ? "  " + e.worst : "");
    }
  }
}
