#include "shiplap/advise/recorded_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/profile/conditions.hpp"
#include "shiplap/profile/derived.hpp"

namespace shiplap {
namespace {

constexpr Bytes large_pinned = 1_MiB;
constexpr Bytes large_pageable = 64_KiB;
constexpr double between_runs = 0.05;
constexpr double between_directions = 1.5;

/// How much longer recorded copies took than the profile says.
struct Ratio {
  double value = 1;
  double low = 1;
  double high = 1;
  Bandwidth best;  ///< rate of the fastest copy
};

bool is_pageable(MemoryKind kind) { return kind == MemoryKind::pageable; }

/// The copies of a direction and a kind of host memory.
template <class Of>
std::vector<const RecordedCopy*> copies_of(const Recording& recording, bool to_gpu, Bytes least, const Of& of_kind) {
  std::vector<const RecordedCopy*> found;
  for (const Record& record : recording.records) {
    const auto* copy = std::get_if<RecordedCopy>(&record);
    if (copy == nullptr || copy->size < least || copy->time.end <= copy->time.start) continue;
    const MemoryKind host = to_gpu ? copy->from : copy->to;
    const MemoryKind gpu = to_gpu ? copy->to : copy->from;
    if (gpu == MemoryKind::device && host != MemoryKind::device && of_kind(host)) found.push_back(copy);
  }
  return found;
}

/// The quantiles of recorded over own time; nullopt without copies.
template <class TimeOf>
std::optional<Ratio> ratio_of(const std::vector<const RecordedCopy*>& copies, const TimeOf& own, double low,
                              double value, double high) {
  if (copies.empty()) return std::nullopt;
  std::vector<double> ratios;
  Ratio ratio;
  for (const RecordedCopy* copy : copies) {
    const Seconds time = between(copy->time.start, copy->time.end);
    ratios.push_back(time / own(copy->size));
    ratio.best = std::max(ratio.best, copy->size / time);
  }
  ratio.value = quantile(ratios, value);
  ratio.low = std::min(quantile(ratios, low), ratio.value * (1 - between_runs));
  ratio.high = std::max(quantile(ratios, high), ratio.value * (1 + between_runs));
  return ratio;
}

void scale(Interval<PerByte>& per_byte, const Ratio& by) {
  const PerByte own = per_byte.value;
  per_byte = {{own.seconds * by.value}, {own.seconds * by.low}, {own.seconds * by.high}};
}

void scale(DirectionModel& direction, const Ratio& by) {
  scale(direction.per_byte, by);
  if (direction.duplex) scale(direction.duplex->per_byte, by);
}

void scale(std::vector<TimeAt>& rows, const Ratio& by) {
  for (TimeAt& row : rows) row.time = {row.time.value * by.value, row.time.value * by.low, row.time.value * by.high};
}

/// Copies of pinned memory are at least as fast as those of pageable memory.
void no_slower(DirectionModel& direction, Bandwidth pageable) {
  const PerByte slowest{1 / pageable.bytes_per_second};
  Interval<PerByte>& g = direction.per_byte;
  g = {std::min(g.value, slowest), std::min(g.low, slowest), std::min(g.high, slowest)};
}

Seconds time_of(const DirectionModel& direction, Bytes size) {
  return cost_at(direction, size).latency_overhead + size * direction.per_byte.value;
}

class LinkOfRecording {
 public:
  LinkOfRecording(Profile profile, const Recording& recording)
      : recording_(recording), result_{.profile = std::move(profile), .rates = {}, .assumed = {}} {}

  RecordedLink with_rates() {
    if (result_.profile.links.empty()) return std::move(result_);
    LinkModel& link = result_.profile.links.front();
    std::optional<Ratio> to_gpu = pinned(link.h2d, true);
    std::optional<Ratio> to_host = pinned(link.d2h, false);
    const std::optional<Ratio> pageable_to_gpu = pageable(link, true);
    const std::optional<Ratio> pageable_to_host = pageable(link, false);
    if (to_gpu || to_host) {
      scale(link.h2d, to_gpu ? *to_gpu : like(*to_host));
      scale(link.d2h, to_host ? *to_host : like(*to_gpu));
    } else {
      if (pageable_to_gpu) no_slower(link.h2d, pageable_to_gpu->best);
      if (pageable_to_host) no_slower(link.d2h, pageable_to_host->best);
      result_.assumed = result_.profile.origin == Origin::measured
                            ? fmt::format("the link of profile {}", result_.profile.name)
                            : fmt::format("an assumed link ({})", condition(result_.profile.conditions, "gpu.link"));
    }
    if (link.pageable && (pageable_to_gpu || pageable_to_host)) {
      const Ratio in = pageable_to_gpu ? *pageable_to_gpu : like(*pageable_to_host);
      const Ratio out = pageable_to_host ? *pageable_to_host : like(*pageable_to_gpu);
      scale(link.pageable->h2d, in);
      scale(link.pageable->d2h, out);
      scale(link.pageable->both, in.value > out.value ? in : out);
    }
    return std::move(result_);
  }

 private:
  static Ratio like(Ratio other) {
    other.low /= between_directions;
    other.high *= between_directions;
    return other;
  }

  std::optional<Ratio> pinned(const DirectionModel& direction, bool to_gpu) {
    const auto ratio = ratio_of(
        copies_of(recording_, to_gpu, large_pinned, [](MemoryKind host) { return is_pinned(host); }),
        [&](Bytes size) { return time_of(direction, size); }, 0, 0.25, 0.5);
    if (ratio) tell({bandwidth(direction.per_byte.value).bytes_per_second / ratio->value}, to_gpu, "pinned");
    return ratio;
  }

  std::optional<Ratio> pageable(const LinkModel& link, bool to_gpu) {
    if (!link.pageable) return std::nullopt;
    const std::vector<TimeAt>& rows = to_gpu ? link.pageable->h2d : link.pageable->d2h;
    if (rows.empty()) return std::nullopt;
    const auto ratio = ratio_of(
        copies_of(recording_, to_gpu, large_pageable, is_pageable), [&](Bytes size) { return time_at(rows, size); },
        0.1, 0.5, 0.9);
    if (ratio) tell(rows.back().size / (rows.back().time.value * ratio->value), to_gpu, "pageable");
    return ratio;
  }

  void tell(Bandwidth rate, bool to_gpu, const char* kind) {
    if (!result_.rates.empty()) result_.rates += ", ";
    result_.rates +=
        fmt::format("{} {} {} memory", to_string(rate), to_gpu ? "to the GPU from" : "to the host into", kind);
  }

  const Recording& recording_;
  RecordedLink result_;
};

}  // namespace

RecordedLink with_recorded_link(Profile profile, const Recording& recording) {
  return LinkOfRecording(std::move(profile), recording).with_rates();
}

RecordedLink profile_of_recording(const Recording& recording) {
  if (std::optional<Profile> known = known_profile_of(recording.gpu))
    return with_recorded_link(*std::move(known), recording);
  RecordedLink assumed = with_recorded_link(assumed_profile(recording.gpu), recording);
  if (assumed.rates.empty())
    throw UsageError(
        fmt::format("there is no profile of {}, and the recording has no copies that tell its link: give --device to "
                    "measure this node, or --profile",
                    recording.gpu));
  return assumed;
}

}  // namespace shiplap
