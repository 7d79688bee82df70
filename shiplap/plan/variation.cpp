#include "shiplap/plan/variation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "shiplap/core/error.hpp"

namespace shiplap {
namespace {

// Without the raw measurements, which cost time to copy and do not matter to a prediction.
Profile parameters_of(const Profile& profile) {
  return {.name = profile.name,
          .origin = profile.origin,
          .source = {},
          .conditions = {},
          .gpus = profile.gpus,
          .links = profile.links,
          .peers = profile.peers,
          .host = profile.host,
          .submission = profile.submission,
          .missing = {},
          .residuals = {},
          .measurements = {}};
}

template <class T>
void move(Interval<T>& interval, End end) {
  interval.value = end == End::low ? interval.low : interval.high;
}
template <class T>
void move(Parameter<T>& parameter, End end) {
  if (parameter) move(*parameter, end);
}

/// So much faster that nothing is left of the time.
constexpr double beyond_measure = 1e6;

void clear(Interval<Seconds>& interval) { interval = Interval<Seconds>::exact(Seconds{0}); }
void clear(Parameter<Seconds>& parameter) {
  if (parameter) clear(*parameter);
}

template <class Visit>
void for_each_slowdown(LinkModel& link, const Visit& visit) {
  if (!link.waiting_queues) return;
  for (const auto& [name, member] : waiting_queues_names) visit((*link.waiting_queues).*member);
}

// A low time is a high rate.
void move_flows(LinkModel& link, End end) {
  const End other = end == End::low ? End::high : End::low;
  if (!link.zero_copy) return;
  for (const auto& [name, table] : mapped_rate_names)
    for (MappedRate& row : (*link.zero_copy).*table) move(row.rate, other);
  for (const auto& [name, table] : mapped_beside_names)
    for (MappedBeside& row : (*link.zero_copy).*table) {
      move(row.kernel, other);
      move(row.copy, other);
    }
}

template <class Visit>
void for_each_direction(Profile& profile, const Visit& visit) {
  for (LinkModel& link : profile.links) {
    visit(link.h2d);
    visit(link.d2h);
  }
}

template <class Visit>
void for_each_event_gap(GpuModel& gpu, const Visit& visit) {
  if (!gpu.event_gap) return;
  for (const auto& [name, member] : event_gap_names) visit((*gpu.event_gap).*member);
}

/// Times of whole pageable copies and of managed pages, and rates of host threads.
template <class Time, class Rate>
void for_each_of_unlocked_memory(Profile& profile, const Time& time, const Rate& rate) {
  const auto times = [&](std::vector<TimeAt>& rows) {
    for (TimeAt& row : rows) time(row.time);
  };
  for (LinkModel& link : profile.links) {
    if (link.pageable)
      for (auto* rows : {&link.pageable->h2d, &link.pageable->d2h, &link.pageable->both}) times(*rows);
    if (!link.managed) continue;
    for (auto* rows : {&link.managed->prefetch_h2d, &link.managed->prefetch_d2h, &link.managed->demand_h2d})
      times(*rows);
    for (RateOfThreads& row : link.managed->demand_d2h) rate(row.rate);
  }
  if (!profile.host) return;
  for (RateOfThreads& row : profile.host->copy) rate(row.rate);
  for (RateThroughRings& row : profile.host->staging) rate(row.rate);
  for (GapAt& row : profile.host->written) time(row.gap);
}

std::array<Parameter<Seconds>*, 7> submission_parameters(SubmissionModel& model) {
  return {&model.copy,         &model.launch,       &model.event_record, &model.event_wait,
          &model.batched_copy, &model.graph_launch, &model.graph_op};
}

void stretch(Interval<Seconds>& t, double factor) { t = {t.value * factor, t.low * factor, t.high * factor}; }
void stretch(Parameter<Seconds>& t, double factor) {
  if (t) stretch(*t, factor);
}
void stretch(Interval<PerByte>& t, double factor) {
  for (PerByte* p : {&t.value, &t.low, &t.high}) p->seconds *= factor;
}
void stretch(Interval<Bandwidth>& rate, double factor) {
  for (Bandwidth* b : {&rate.value, &rate.low, &rate.high}) b->bytes_per_second /= factor;
}

void stretch_rate(Profile& profile, bool to_device, double factor) {
  for (LinkModel& link : profile.links) {
    DirectionModel& direction = to_device ? link.h2d : link.d2h;
    stretch(direction.per_byte, factor);
    if (direction.duplex) stretch(direction.duplex->per_byte, factor);
    if (!link.waiting_queues) continue;
    stretch((to_device ? link.waiting_queues->h2d : link.waiting_queues->d2h).per_byte, factor);
    // Both directions share what they are slower together: half of it belongs to each.
    stretch(link.waiting_queues->duplex.per_byte, std::sqrt(factor));
  }
}

}  // namespace

Profile moved(const Profile& original, ParameterGroup group, End end) {
  Profile profile = parameters_of(original);
  switch (group) {
    case ParameterGroup::rates:
      for_each_direction(profile, [&](DirectionModel& d) {
        move(d.per_byte, end);
        if (d.duplex) move(d.duplex->per_byte, end);
      });
      for (LinkModel& link : profile.links) {
        for_each_slowdown(link, [&](Slowdown& slowdown) { move(slowdown.per_byte, end); });
        move_flows(link, end);
      }
      for_each_of_unlocked_memory(
          profile, [&](Interval<Seconds>& t) { move(t, end); },
          [&](Interval<Bandwidth>& r) { move(r, end == End::low ? End::high : End::low); });
      break;
    case ParameterGroup::gaps:
      for_each_direction(profile, [&](DirectionModel& d) {
        for (CopyCost& cost : d.costs) move(cost.gap, end);
        if (d.duplex)
          for (GapAt& gap : d.duplex->gaps) move(gap.gap, end);
        for (GapAt& gap : d.batched) move(gap.gap, end);
      });
      for (LinkModel& link : profile.links)
        for_each_slowdown(link, [&](Slowdown& slowdown) { move(slowdown.gap, end); });
      for (GpuModel& gpu : profile.gpus) {
        move(gpu.kernel_gap, end);
        for_each_event_gap(gpu, [&](Interval<Seconds>& gap) { move(gap, end); });
      }
      break;
    case ParameterGroup::latencies:
      for_each_direction(profile, [&](DirectionModel& d) {
        for (CopyCost& cost : d.costs) move(cost.latency_overhead, end);
      });
      for (GpuModel& gpu : profile.gpus) {
        move(gpu.launch_latency, end);
        if (gpu.handovers)
          for (const auto& [name, member] : handover_names) {
            move(((*gpu.handovers).*member).idle, end);
            move(((*gpu.handovers).*member).busy, end);
          }
      }
      break;
    case ParameterGroup::submission:
      for (auto* parameter : submission_parameters(profile.submission)) move(*parameter, end);
      break;
  }
  return profile;
}

Profile freed_of(const Profile& original, Cause cause) {
  Profile profile = parameters_of(original);
  switch (cause) {
    case Cause::host:
      // Pages and pageable bytes move no slower than page-locked ones then.
      for (LinkModel& link : profile.links) {
        const auto as_page_locked = [](std::vector<TimeAt>& rows, const DirectionModel& d) {
          for (TimeAt& row : rows) {
            const Seconds pinned = cost_at(d, row.size).latency_overhead + row.size * d.per_byte.value;
            row.time = Interval<Seconds>::exact(std::min(row.time.value, pinned));
          }
        };
        if (link.pageable) {
          as_page_locked(link.pageable->h2d, link.h2d);
          as_page_locked(link.pageable->d2h, link.d2h);
          as_page_locked(link.pageable->both, link.h2d);
        }
        if (link.managed) {
          as_page_locked(link.managed->prefetch_h2d, link.h2d);
          as_page_locked(link.managed->prefetch_d2h, link.d2h);
          as_page_locked(link.managed->demand_h2d, link.h2d);
        }
      }
      for_each_of_unlocked_memory(
          profile, [](Interval<Seconds>&) {},
          [](Interval<Bandwidth>& r) { r = Interval<Bandwidth>::exact({r.value.bytes_per_second * beyond_measure}); });
      break;
    case Cause::submission:
      for (auto* parameter : submission_parameters(profile.submission)) clear(*parameter);
      break;
    case Cause::duplex_gap:
      for_each_direction(profile, [&](DirectionModel& d) {
        if (!d.duplex) return;
        for (GapAt& gap : d.duplex->gaps) {
          const Seconds alone = cost_at(d, gap.size).gap;
          gap.gap = Interval<Seconds>::exact(std::min(alone, gap.gap.value));
        }
      });
      break;
    case Cause::gap:
      for_each_direction(profile, [&](DirectionModel& d) {
        for (CopyCost& cost : d.costs) clear(cost.gap);
        if (d.duplex)
          for (GapAt& gap : d.duplex->gaps) clear(gap.gap);
        for (GapAt& gap : d.batched) clear(gap.gap);
      });
      for (LinkModel& link : profile.links) for_each_slowdown(link, [&](Slowdown& slowdown) { clear(slowdown.gap); });
      for (GpuModel& gpu : profile.gpus) {
        clear(gpu.kernel_gap);
        for_each_event_gap(gpu, [&](Interval<Seconds>& gap) { clear(gap); });
      }
      break;
    case Cause::latency:
      for_each_direction(profile, [&](DirectionModel& d) {
        for (CopyCost& cost : d.costs) clear(cost.latency_overhead);
      });
      for (GpuModel& gpu : profile.gpus) {
        clear(gpu.launch_latency);
        if (gpu.handovers)
          for (const auto& [name, member] : handover_names) {
            clear(((*gpu.handovers).*member).idle);
            clear(((*gpu.handovers).*member).busy);
          }
      }
      break;
  }
  return profile;
}

std::string to_string(CostTerm term) {
  switch (term) {
    case CostTerm::h2d_rate:
      return "H2D copies, per byte";
    case CostTerm::d2h_rate:
      return "D2H copies, per byte";
    case CostTerm::zero_copy_rate:
      return "zero-copy, per byte";
    case CostTerm::gaps:
      return "gaps between ops (g)";
    case CostTerm::latencies:
      return "latencies (L+o, launches, handovers)";
    case CostTerm::submission:
      return "submission by the host";
    case CostTerm::host:
      return "host threads, pageable copies, moving pages";
  }
  throw Error("not a quantity of a prediction");
}

Profile slowed(const Profile& original, CostTerm term, double factor) {
  Profile profile = parameters_of(original);
  switch (term) {
    case CostTerm::h2d_rate:
      stretch_rate(profile, true, factor);
      break;
    case CostTerm::d2h_rate:
      stretch_rate(profile, false, factor);
      break;
    case CostTerm::zero_copy_rate:
      for (LinkModel& link : profile.links) {
        if (!link.zero_copy) continue;
        for (const auto& [name, table] : mapped_rate_names)
          for (MappedRate& row : (*link.zero_copy).*table) stretch(row.rate, factor);
        for (const auto& [name, table] : mapped_beside_names)
          for (MappedBeside& row : (*link.zero_copy).*table) {
            stretch(row.kernel, factor);
            stretch(row.copy, factor);
          }
      }
      break;
    case CostTerm::gaps:
      for_each_direction(profile, [&](DirectionModel& d) {
        for (CopyCost& cost : d.costs) stretch(cost.gap, factor);
        if (d.duplex)
          for (GapAt& gap : d.duplex->gaps) stretch(gap.gap, factor);
        for (GapAt& gap : d.batched) stretch(gap.gap, factor);
      });
      for (LinkModel& link : profile.links) for_each_slowdown(link, [&](Slowdown& s) { stretch(s.gap, factor); });
      for (GpuModel& gpu : profile.gpus) {
        stretch(gpu.kernel_gap, factor);
        for_each_event_gap(gpu, [&](Interval<Seconds>& gap) { stretch(gap, factor); });
      }
      break;
    case CostTerm::latencies:
      for_each_direction(profile, [&](DirectionModel& d) {
        for (CopyCost& cost : d.costs) stretch(cost.latency_overhead, factor);
      });
      for (GpuModel& gpu : profile.gpus) {
        stretch(gpu.launch_latency, factor);
        if (!gpu.handovers) continue;
        for (const auto& [name, member] : handover_names) {
          stretch(((*gpu.handovers).*member).idle, factor);
          stretch(((*gpu.handovers).*member).busy, factor);
        }
      }
      break;
    case CostTerm::submission:
      for (auto* parameter : submission_parameters(profile.submission)) stretch(*parameter, factor);
      break;
    case CostTerm::host:
      for_each_of_unlocked_memory(
          profile, [&](Interval<Seconds>& t) { stretch(t, factor); },
          [&](Interval<Bandwidth>& r) {
            for (Bandwidth* b : {&r.value, &r.low, &r.high}) b->bytes_per_second /= factor;
          });
      break;
  }
  return profile;
}

}  // namespace shiplap
