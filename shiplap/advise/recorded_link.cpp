#include "shiplap/advise/recorded_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "shiplap/core/printable.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/profile/conditions.hpp"
#include "shiplap/profile/derived.hpp"
#include "shiplap/profile/gpu_facts.hpp"
#include "shiplap/profile/link_rows.hpp"
#include "shiplap/profile/more_gpus.hpp"

namespace shiplap {
namespace {

constexpr Bytes large_pinned = 1_MiB;
constexpr Bytes large_pageable = 64_KiB;
/// Times of pageable copies this much smaller than the recorded ones do not follow from them.
constexpr std::uint64_t much_smaller = 4;
constexpr double between_runs = 0.05;
constexpr double between_directions = 1.5;

using Copies = std::vector<const RecordedCopy*>;

/// How much longer recorded copies took than the profile says.
struct Ratio {
  double value = 1;
  double low = 1;
  double high = 1;
  Bytes smallest;  ///< size of the smallest of the copies
  Bandwidth best;  ///< rate of the fastest of the large ones
  Bandwidth rate;  ///< their median rate
};

Seconds time_of(const RecordedCopy& copy) { return between(copy.time.start, copy.time.end); }
MemoryKind host_memory_of(const RecordedCopy& copy, bool to_gpu) { return to_gpu ? copy.from : copy.to; }

/// The copies of one GPU in each direction, by their starts.
class CopiesOfGpu {
 public:
  explicit CopiesOfGpu(const Recording& recording) {
    std::set<std::uint32_t> gpus;
    for (const Record& record : recording.records)
      if (const auto work = work_of(record)) gpus.insert(work->gpu);
    count_ = static_cast<std::uint32_t>(gpus.size());
    for (const Record& record : recording.records) {
      const auto* copy = std::get_if<RecordedCopy>(&record);
      if (copy == nullptr || copy->gpu != *gpus.begin() || copy->time.end <= copy->time.start) continue;
      for (const bool to_gpu : {false, true})
        if ((to_gpu ? copy->to : copy->from) == MemoryKind::device &&
            host_memory_of(*copy, to_gpu) != MemoryKind::device)
          of_[to_gpu].push_back(copy);
    }
    for (const bool to_gpu : {false, true}) {
      std::ranges::sort(of_[to_gpu], {}, [](const RecordedCopy* copy) { return copy->time.start; });
      std::uint64_t last = 0;
      for (const RecordedCopy* copy : of_[to_gpu]) last_end_[to_gpu].push_back(last = std::max(last, copy->time.end));
    }
  }

  /// Number of GPUs with work.
  std::uint32_t gpus() const { return count_; }

  /// Copies with at least this size from or to pageable or pinned memory, of which none or all run while another goes
  /// in the opposite direction.
  Copies find(bool to_gpu, bool pageable, Bytes least, bool opposed) const {
    Copies found;
    for (const RecordedCopy* copy : of_[to_gpu]) {
      const MemoryKind host = host_memory_of(*copy, to_gpu);
      const bool fits = pageable ? host == MemoryKind::pageable : is_pinned(host);
      if (fits && copy->size >= least && is_opposed(*copy, to_gpu) == opposed) found.push_back(copy);
    }
    return found;
  }

 private:
  bool is_opposed(const RecordedCopy& copy, bool to_gpu) const {
    const Copies& others = of_[!to_gpu];
    const auto behind = std::ranges::lower_bound(others, copy.time.end, {},
                                                 [](const RecordedCopy* other) { return other->time.start; });
    const auto before = static_cast<std::size_t>(behind - others.begin());
    return before > 0 && last_end_[!to_gpu][before - 1] > copy.time.start;
  }

  Copies of_[2];                              ///< [1]: to the GPU
  std::vector<std::uint64_t> last_end_[2]{};  ///< latest end of the copies up to this one
  std::uint32_t count_ = 0;
};

/// Which quantiles of the ratios are the value and its interval.
struct Quantiles {
  double low;
  double value;
  double high;
};
/// Other work only adds time to copies of pinned memory.
constexpr Quantiles of_pinned{0, 0.25, 0.5};
constexpr Quantiles of_pageable{0.1, 0.5, 0.9};

/// The quantiles of the ratios; nullopt without copies.
template <class RatioOf>
std::optional<Ratio> ratio_of(const Copies& copies, const RatioOf& of, Quantiles q) {
  if (copies.empty()) return std::nullopt;
  const auto [smallest, largest] = std::ranges::minmax(copies, {}, &RecordedCopy::size);
  std::vector<double> ratios;
  std::vector<double> rates;
  for (const RecordedCopy* copy : copies) {
    ratios.push_back(of(*copy));
    if (copy->size >= largest->size / 2) rates.push_back((copy->size / time_of(*copy)).bytes_per_second);
  }
  Ratio ratio{.smallest = smallest->size, .best = {std::ranges::max(rates)}, .rate = {median(rates)}};
  ratio.value = quantile(ratios, q.value);
  ratio.low = std::min(quantile(ratios, q.low), ratio.value * (1 - between_runs));
  ratio.high = std::max(quantile(ratios, q.high), ratio.value * (1 + between_runs));
  return ratio;
}

/// The ratio of the times per byte, without what a copy takes apart from its bytes.
std::optional<Ratio> per_byte_ratio(const Copies& copies, const DirectionModel& direction, PerByte own) {
  constexpr double least = 0.01;
  return ratio_of(
      copies,
      [&](const RecordedCopy& copy) {
        const Seconds bytes = time_of(copy) - cost_at(direction, copy.size).latency_overhead;
        return std::max(least, bytes / (copy.size * own));
      },
      of_pinned);
}

void scale(Interval<PerByte>& per_byte, const Ratio& by) {
  const PerByte own = per_byte.value;
  per_byte = {{own.seconds * by.value}, {own.seconds * by.low}, {own.seconds * by.high}};
}

void scale(DirectionModel& direction, const Ratio& by) {
  scale(direction.per_byte, by);
  if (direction.duplex) scale(direction.duplex->per_byte, by);
}

/// Scales the rows near the recorded sizes.
void scale(std::vector<TimeAt>& rows, const Ratio& by, const DirectionModel& pinned) {
  for (TimeAt& row : rows)
    if (row.size * much_smaller >= by.smallest)
      row.time = {row.time.value * by.value, row.time.value * by.low, row.time.value * by.high};
  no_faster_than(rows, pinned);
}

/// Copies of pinned memory are at least as fast as those of pageable memory.
void no_slower(DirectionModel& direction, Bandwidth pageable) {
  const PerByte slowest{1 / pageable.bytes_per_second};
  Interval<PerByte>& g = direction.per_byte;
  g = {std::min(g.value, slowest), std::min(g.low, slowest), std::min(g.high, slowest)};
}

Ratio like(Ratio other) {
  other.low /= between_directions;
  other.high *= between_directions;
  return other;
}

std::string told(Bandwidth rate, bool to_gpu, const char* kind) {
  return fmt::format("{} {} {} memory", to_string(rate), to_gpu ? "to the GPU from" : "to the host into", kind);
}

/// A profile with the link, the pageable copies and the costs that a published one lacks, as of an unknown machine.
Profile completed(const Profile& known, std::string_view gpu) {
  Profile profile = assumed_profile(gpu);
  GpuModel& model = profile.gpus.front();
  const GpuModel& published = known.gpus.front();
  model.memory = published.memory;
  if (published.sm_count > 0) model.sm_count = published.sm_count;
  if (published.memory_bandwidth) model.memory_bandwidth = published.memory_bandwidth;
  if (published.flop_rate) model.flop_rate = published.flop_rate;
  if (!known.links.empty()) {
    LinkModel& link = profile.links.front();
    link.h2d = known.links.front().h2d;
    link.d2h = known.links.front().d2h;
    profile.conditions["gpu.link"] = condition(known.conditions, "gpu.link");
    std::erase_if(profile.missing, [](const Missing& m) { return m.parameter.ends_with(".per_byte"); });
  }
  profile.source = fmt::format("what profile {} has; for the rest, {}", known.name, profile.source);
  return profile;
}

bool is_complete(const Profile& profile) {
  return !profile.gpus.empty() && !profile.links.empty() && profile.links.front().pageable && profile.host;
}

bool tells_its_link(const CopiesOfGpu& copies) {
  return !copies.find(true, false, large_pinned, false).empty() ||
         !copies.find(false, false, large_pinned, false).empty();
}

RecordedLink with_rates(const CopiesOfGpu& copies, Profile given) {
  RecordedLink result{.profile = std::move(given), .note = {.is_recorded = tells_its_link(copies)}};
  if (result.profile.links.empty()) return result;
  LinkModel& link = result.profile.links.front();
  std::optional<Ratio> pinned[2];
  std::optional<Ratio> pageable[2];
  const auto tell = [&](Bandwidth rate, bool to_gpu, const char* kind) {
    result.note.rates += (result.note.rates.empty() ? "" : ", ") + told(rate, to_gpu, kind);
  };
  for (const bool to_gpu : {true, false}) {
    DirectionModel& direction = to_gpu ? link.h2d : link.d2h;
    pinned[to_gpu] =
        per_byte_ratio(copies.find(to_gpu, false, large_pinned, false), direction, direction.per_byte.value);
    if (pinned[to_gpu]) tell(pinned[to_gpu]->rate, to_gpu, "pinned");
    // Copies that never run alone tell what both directions reach together, and no more.
    if (direction.duplex && !pinned[to_gpu])
      if (const auto both = per_byte_ratio(copies.find(to_gpu, false, large_pinned, true), direction,
                                           direction.duplex->per_byte.value))
        scale(direction.duplex->per_byte, *both);
    if (!link.pageable) continue;
    const std::vector<TimeAt>& rows = to_gpu ? link.pageable->h2d : link.pageable->d2h;
    if (rows.empty()) continue;
    pageable[to_gpu] = ratio_of(
        copies.find(to_gpu, true, large_pageable, false),
        [&](const RecordedCopy& copy) { return time_of(copy) / time_at(rows, copy.size); }, of_pageable);
    if (pageable[to_gpu]) tell(pageable[to_gpu]->rate, to_gpu, "pageable");
  }
  if (pinned[0] || pinned[1]) {
    scale(link.h2d, pinned[1] ? *pinned[1] : like(*pinned[0]));
    scale(link.d2h, pinned[0] ? *pinned[0] : like(*pinned[1]));
  } else {
    if (pageable[1]) no_slower(link.h2d, pageable[1]->best);
    if (pageable[0]) no_slower(link.d2h, pageable[0]->best);
    const std::string pcie = condition(result.profile.conditions, "gpu.link");
    result.note.assumed = result.profile.origin == Origin::measured || pcie == unknown_fact
                              ? fmt::format("the link of profile {}", result.profile.name)
                              : fmt::format("an assumed link ({})", pcie);
  }
  if (link.pageable && (pageable[0] || pageable[1])) {
    const Ratio in = pageable[1] ? *pageable[1] : like(*pageable[0]);
    const Ratio out = pageable[0] ? *pageable[0] : like(*pageable[1]);
    scale(link.pageable->h2d, in, link.h2d);
    scale(link.pageable->d2h, out, link.d2h);
    scale(link.pageable->both, in.value > out.value ? in : out, link.h2d);
  }
  return result;
}

}  // namespace

RecordedLink with_recorded_link(Profile profile, const Recording& recording) {
  return with_rates(CopiesOfGpu(recording), std::move(profile));
}

RecordedLink with_link_of(Profile profile, const Recording& recording) {
  RecordedLink asked{.profile = std::move(profile), .note = {.is_recorded = tells_its_link(CopiesOfGpu(recording))}};
  if (asked.profile.gpus.empty()) return asked;
  const std::string& name = asked.profile.gpus.front().name;
  const auto recorded = find_published_gpu(recording.gpu);
  const auto given = find_published_gpu(name);
  const bool is_same = name == recording.gpu || (recorded && given && recorded->name == given->name);
  const Origin origin = asked.profile.origin;
  const bool is_measured = origin == Origin::measured || origin == Origin::imported || origin == Origin::simulated;
  if (!is_same || !is_measured)
    asked.note.assumed = fmt::format("{} link of {}", is_measured ? "the" : "an assumed", printable(name));
  return asked;
}

RecordedLink profile_of_recording(const Recording& recording) {
  std::optional<Profile> known = known_profile_of(recording.gpu);
  if (!known)
    known = assumed_profile(recording.gpu);
  else if (!is_complete(*known))
    known = completed(*known, recording.gpu);
  const CopiesOfGpu copies(recording);
  RecordedLink found = with_rates(copies, *std::move(known));
  const std::uint32_t gpus = std::clamp(copies.gpus(), 1u, most_gpus);
  if (own_gpus(found.profile) < gpus) found.profile = with_gpus(std::move(found.profile), gpus);
  return found;
}

}  // namespace shiplap
