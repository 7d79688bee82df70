// Switches off one term of the model, or one dimension of the search, at a time, and says what that costs: by how much
// the choice that is then planned is slower, by the full model, than the choice of the full model, and by how much the
// predicted time of the full choice changes. A term that changes neither on any profile earns no place.
//
//   ablation JOBS SEED [PROFILE ...]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/evaluate/random_jobs.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/plan/what_if.hpp"
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
void for_handovers(Profile& p, const auto& change) {
  for_gpus(p, [&](GpuModel& gpu) {
    if (gpu.handovers)
      for (const HandoverName& h : handover_names) change(*gpu.handovers, (*gpu.handovers).*h.member);
  });
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
      {"zero-copy: beside copies",
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
      {"handovers: busy as idle",
       [](Profile& p) { for_handovers(p, [](HandoverModel&, Handover& h) { h.busy = h.idle; }); }},
      {"handovers: other stream as same",
       [](Profile& p) {
         for_handovers(p, [](HandoverModel& m, Handover&) {
           m.h2d_other_stream = m.h2d_same_stream;
           m.d2h_other_stream = m.d2h_same_stream;
         });
       }},
      {"handovers: between kernels",
       [](Profile& p) { for_handovers(p, [](HandoverModel& m, Handover&) { m.kernels = {}; }); }},
      {"submission: copies", [](Profile& p) { p.submission.copy.reset(); }},
      {"submission: launches", [](Profile& p) { p.submission.launch.reset(); }},
      {"submission: events", [](Profile& p) { p.submission.event_record.reset(), p.submission.event_wait.reset(); }},
      {"submission: copies of a batch", [](Profile& p) { p.submission.batched_copy.reset(); }},
      {"submission: graphs", [](Profile& p) { p.submission.graph_launch.reset(), p.submission.graph_op.reset(); }},
      {"search: layouts", {}, [](SearchSpace& s) { s.layouts = {Layout::three}; }},
      {"search: a few streams",
       {},
       [](SearchSpace& s) {
         s.layouts = {Layout::three, Layout::per_chunk};
       }},
      {"search: a stream per chunk",
       {},
       [](SearchSpace& s) {
         s.layouts = {Layout::three, Layout::few};
       }},
      {"search: orders", {}, [](SearchSpace& s) { s.orders = {IssueOrder::depth}; }},
      {"search: ramps", {}, [](SearchSpace& s) { s.ramps = {Ramp{}}; }},
      {"search: graphs and batches", {}, [](SearchSpace& s) { s.fewer_calls = false; }},
      {"search: smaller grids", {}, [](SearchSpace& s) { s.max_grids = {0}; }},
  };
  return all;
}

struct Effect {
  std::vector<double> regrets{};
  std::vector<double> changes{};
  std::string worst{};
  unsigned failed = 0;
};

}  // namespace

int main(int argc, char** argv) {
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
