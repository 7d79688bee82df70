#include "shiplap/plan/steady_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/core/record.hpp"
#include "shiplap/plan/ranking_json.hpp"
#include "shiplap/schedule/succession.hpp"
#include "shiplap/sim/simulate.hpp"
#include "shiplap/workload/launches.hpp"

namespace shiplap {
namespace {

constexpr std::uint32_t most_steady_chunks = 64;
constexpr int octaves = 6;  // the kernel's time is varied from 2^-6 to 2^6 of the planned time
constexpr int factors_of_octave = 2;

KernelCost times(KernelCost cost, double factor) {
  const auto scale = [&](Interval<Seconds>& work) {
    work = {.value = work.value * factor, .low = work.low * factor, .high = work.high * factor};
  };
  for (KernelCost::Point& point : cost.points) scale(point.work);
  for (KernelCost::Limited& limited : cost.limited) scale(limited.work);
  return cost;
}

Seconds between(Seconds a, Seconds b, double weight) {
  if (a.count() <= 0 || b.count() <= 0) return a + (b - a) * weight;
  return Seconds{std::exp((1 - weight) * std::log(a.count()) + weight * std::log(b.count()))};
}

}  // namespace

std::vector<Seconds> added_busy_times(std::vector<Span> kernels) {
  std::ranges::sort(kernels, {}, &Span::start);
  std::vector<Seconds> added;
  Seconds until{0};
  for (const Span& span : kernels) {
    added.push_back(std::max(Seconds{0}, span.end - std::max(span.start, until)));
    until = std::max(until, span.end);
  }
  return added;
}

SteadyState steady_state(const Schedule& batch, std::uint32_t in_flight, const Profile& profile) {
  // The first batches fill the pipeline. After that, the batches of all slots together take `in_flight` periods.
  const std::size_t batches = 2 * std::size_t{in_flight} + 3;
  std::vector<Successor> successors;
  for (std::size_t i = 0; i < batches; ++i)
    successors.push_back({.schedule = &batch,
                          .slot = static_cast<std::uint32_t>(i % in_flight),
                          .awaited = i >= in_flight ? std::optional(i - in_flight) : std::nullopt});
  const Succession all = succession(successors);
  const Timeline timeline = simulate(all.schedule, profile).timeline;
  const Span last = all.span(timeline, batches - 1);
  const Span before = all.span(timeline, batches - 1 - in_flight);
  SteadyState result{.period = (last.end - before.end) / static_cast<double>(in_flight), .span = last.end - last.start};
  std::vector<Span> kernels;
  for (std::size_t i = all.first[batches - 1]; i < all.first[batches]; ++i)
    if (std::holds_alternative<Kernel>(all.schedule.ops[i].what)) kernels.push_back(timeline.spans[i]);
  for (const Seconds added : added_busy_times(std::move(kernels))) result.kernels += added;
  return result;
}

SteadyState SteadyTable::at(std::size_t choice, double kernel, double link) const {
  const std::vector<SteadyState>& of = states.at(choice);
  const double wanted = kernel / link;
  const auto scaled = [](const SteadyState& s, double factor) {
    return SteadyState{.period = s.period * factor, .span = s.span * factor, .kernels = s.kernels * factor};
  };
  const auto above = std::upper_bound(factors.begin(), factors.end(), wanted);
  if (above == factors.end()) return scaled(of.back(), kernel / factors.back());
  if (above == factors.begin()) {
    SteadyState fastest = scaled(of.front(), link);
    fastest.kernels = fastest.kernels * (wanted / factors.front());
    return fastest;
  }
  const auto i = static_cast<std::size_t>(above - factors.begin());
  const double share = std::log(wanted / factors[i - 1]) / std::log(factors[i] / factors[i - 1]);
  return scaled({.period = between(of[i - 1].period, of[i].period, share),
                 .span = between(of[i - 1].span, of[i].span, share),
                 .kernels = between(of[i - 1].kernels, of[i].kernels, share)},
                link);
}

std::vector<Choice> steady_choices(const Job& batch) {
  std::vector<Choice> result;
  const std::uint64_t most = std::min<std::uint64_t>({most_steady_chunks, batch.items, blocks_of(batch, batch.items)});
  for (std::uint32_t chunks = 1; chunks <= most; chunks *= 2) {
    result.push_back({.strategy = "streams", .chunks = chunks, .layout = Layout::three});
    if (chunks > 1) result.push_back({.strategy = "streams", .chunks = chunks, .layout = Layout::few, .streams = 4});
  }
  return result;
}

SteadyTable steady_table(const Job& batch, const Profile& profile, const Limits& limits,
                         const std::vector<Choice>& choices, std::uint32_t in_flight) {
  if (in_flight == 0) throw UsageError("`in_flight` 0: the number of batches in flight must be at least 1");
  SteadyTable table{.in_flight = in_flight};
  for (int i = -octaves * factors_of_octave; i <= octaves * factors_of_octave; ++i)
    table.factors.push_back(std::exp2(static_cast<double>(i) / factors_of_octave));
  std::string why;
  for (const Choice& choice : choices) {
    try {
      std::vector<SteadyState> states;
      for (const double factor : table.factors) {
        Job job = batch;
        job.cost = times(batch.cost, factor);
        states.push_back(
            steady_state(find_strategy(choice.strategy).schedule(job, choice, limits), in_flight, profile));
      }
      table.choices.push_back(choice);
      table.states.push_back(std::move(states));
    } catch (const Error& error) {
      why = fmt::format("{}: {}", to_string(choice), error.what());
    }
  }
  if (table.choices.empty()) throw UsageError(fmt::format("no choice is left for batches of {}: {}", batch.name, why));
  return table;
}

namespace {

/// Period, span and time of the kernels, in seconds.
struct SteadyStateForm {
  static Json write(const SteadyState& s) { return {s.period.count(), s.span.count(), s.kernels.count()}; }
  static SteadyState read(const JsonReader& s) {
    if (s.size() != 3) s.fail("period, span and kernels");
    return {.period = Seconds{s.at(0).positive()},
            .span = Seconds{s.at(1).positive()},
            .kernels = Seconds{s.at(2).non_negative()}};
  }
  static Json schema() { return {{"type", "array"}, {"items", {{"type", "number"}, {"minimum", 0}}}}; }
};

/// The times of a choice for each factor.
struct StatesOfChoice {
  std::vector<SteadyState> values;
};
template <class V, Like<StatesOfChoice> R>
void describe(V& v, R& states) {
  v.field("values", states.values, "for each factor the period, the span and the time of the kernels of a batch",
          ListOf<SteadyState, SteadyStateForm>{});
  v.constant("unit", "s");
}
struct SteadyChoice {
  Choice choice;
  StatesOfChoice states;
};
template <class V, Like<SteadyChoice> R>
void describe(V& v, R& one) {
  v.field("choice", one.choice, "a way to run a batch");
  v.field("states", one.states, "its times");
}

/// The table as files have it, choice by choice.
struct TableByChoice {
  std::uint32_t in_flight = 1;
  std::vector<double> factors;
  std::vector<SteadyChoice> choices;
};
template <class V, Like<TableByChoice> R>
void describe(V& v, R& table) {
  v.field("in_flight", table.in_flight, "number of batches in flight", one_or_more<std::uint32_t>);
  v.field("kernel_factors", table.factors, "factors of the planned time of the kernel, ascending",
          ListOf<double, Positive>{{}, 1});
  v.field("choices", table.choices, "the choices with their times",
          ListOf<SteadyChoice, WholeRecord<SteadyChoice>>{{}, 1});
}

}  // namespace

Json to_json(const SteadyTable& table) {
  TableByChoice record{.in_flight = table.in_flight, .factors = table.factors, .choices = {}};
  for (std::size_t c = 0; c < table.choices.size(); ++c)
    record.choices.push_back({table.choices[c], {table.states[c]}});
  return write_record(record);
}

void from_json(const JsonReader& json, SteadyTable& table) {
  TableByChoice record;
  read_whole_record(json, record);
  for (std::size_t i = 1; i < record.factors.size(); ++i)
    if (record.factors[i] <= record.factors[i - 1])
      json.at("kernel_factors").at(i).fail("a factor larger than the one before");
  table = {.in_flight = record.in_flight, .choices = {}, .factors = record.factors, .states = {}};
  for (std::size_t c = 0; c < record.choices.size(); ++c) {
    std::vector<SteadyState>& states = record.choices[c].states.values;
    if (states.size() != table.factors.size())
      json.at("choices").at(c).at("states").at("values").fail("a state for each factor");
    table.choices.push_back(std::move(record.choices[c].choice));
    table.states.push_back(std::move(states));
  }
}

Json json_schema(const SteadyTable&) { return schema_of<TableByChoice>(); }

}  // namespace shiplap
