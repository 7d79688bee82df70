#include "shiplap/advise/steps.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace shiplap {
namespace {

constexpr std::size_t fewest_steps = 3;
constexpr double least_coverage = 0.5;
/// A period that is confirmed by this fraction of the ops that confirm the best one is as good as it.
constexpr double nearly_as_often = 0.95;
/// Kinds of ops keep the period equally well when these fractions of their distances differ by less than this.
constexpr double equally_well = 0.01;

/// The call that submitted a copy, kernel or fill, and when that began on the GPU; nullopt for other records.
struct Origin {
  std::uint64_t call;
  std::uint64_t start_on_gpu;
};
std::optional<Origin> origin_of(const Record& record) {
  return std::visit(
      [](const auto& r) -> std::optional<Origin> {
        if constexpr (requires { r.stream, r.time; })
          return Origin{r.call, r.time.start};
        else
          return std::nullopt;
      },
      record);
}

/// A copy, kernel or fill, and when it was submitted: the begin of its call, or of its work where the call was not
/// recorded.
struct SubmittedOp {
  std::size_t record;  ///< index in `Recording::records`
  std::uint64_t time;  ///< ns
};

std::vector<SubmittedOp> submitted_ops(const Recording& recording) {
  std::unordered_map<std::uint64_t, std::uint64_t> begins;
  for (const Record& record : recording.records)
    if (const auto* call = std::get_if<RecordedCall>(&record)) begins.emplace(call->call, call->time.start);
  std::vector<SubmittedOp> found;
  for (std::size_t i = 0; i < recording.records.size(); ++i)
    if (const auto origin = origin_of(recording.records[i])) {
      const auto call = begins.find(origin->call);
      found.push_back({i, call == begins.end() ? origin->start_on_gpu : call->second});
    }
  std::ranges::stable_sort(found, {}, &SubmittedOp::time);
  return found;
}

/// Ops with one number are alike.
using Kind = std::uint32_t;

std::vector<Kind> kinds_of(const Recording& recording, const std::vector<SubmittedOp>& submitted) {
  using Key = std::tuple<std::size_t, std::string, std::uint64_t, std::uint64_t, std::uint32_t>;
  std::map<Key, Kind> known;
  std::vector<Kind> kinds;
  for (const SubmittedOp& one : submitted) {
    const Record& record = recording.records[one.record];
    Key key{record.index(), {}, 0, 0, 0};
    if (const auto* kernel = std::get_if<RecordedKernel>(&record))
      key = {record.index(), kernel->name, kernel->blocks, kernel->threads, kernel->stream};
    else if (const auto* copy = std::get_if<RecordedCopy>(&record))
      key = {record.index(),
             {},
             copy->size.count,
             static_cast<std::uint64_t>(copy->from) << 8u | static_cast<std::uint64_t>(copy->to),
             copy->stream};
    else if (const auto* fill = std::get_if<RecordedFill>(&record))
      key = {record.index(), {}, fill->size.count, 0, fill->stream};
    kinds.push_back(known.try_emplace(std::move(key), static_cast<Kind>(known.size())).first->second);
  }
  return kinds;
}

std::vector<std::vector<std::size_t>> places_of(const std::vector<Kind>& kinds) {
  std::vector<std::vector<std::size_t>> places(kinds.empty() ? 0 : *std::ranges::max_element(kinds) + 1u);
  for (std::size_t i = 0; i < kinds.size(); ++i) places[kinds[i]].push_back(i);
  return places;
}

/// The distance between neighbouring places that occurs most often, and how often it does.
std::pair<std::size_t, std::size_t> usual_gap(const std::vector<std::size_t>& places) {
  std::unordered_map<std::size_t, std::size_t> counts;
  std::pair<std::size_t, std::size_t> usual{0, 0};
  for (std::size_t i = 1; i < places.size(); ++i) {
    const std::size_t gap = places[i] - places[i - 1];
    const std::size_t count = ++counts[gap];
    if (count > usual.second || (count == usual.second && gap < usual.first)) usual = {gap, count};
  }
  return usual;
}

/// Number of ops that are like the op one period later.
std::size_t confirmed(const std::vector<Kind>& kinds, std::size_t period) {
  std::size_t alike = 0;
  for (std::size_t i = 0; i + period < kinds.size(); ++i) alike += kinds[i] == kinds[i + period] ? 1 : 0;
  return alike;
}

std::size_t period_of(const std::vector<Kind>& kinds, const std::vector<std::vector<std::size_t>>& places) {
  std::map<std::size_t, std::size_t> confirmations;
  for (const auto& of_kind : places)
    if (of_kind.size() >= fewest_steps)
      if (const std::size_t gap = usual_gap(of_kind).first; !confirmations.contains(gap))
        confirmations[gap] = confirmed(kinds, gap);
  std::size_t most = 0;
  for (const auto& [gap, alike] : confirmations) most = std::max(most, alike);
  for (const auto& [gap, alike] : confirmations)
    if (most > 0 && static_cast<double>(alike) >= nearly_as_often * static_cast<double>(most)) return gap;
  return 0;
}

/// Where steps of this period begin: at the ops of the kind that keeps the period best, and among those that keep it
/// equally well, the first in the recording.
std::vector<std::size_t> begins_of_steps(const std::vector<std::vector<std::size_t>>& places, std::size_t period) {
  const std::vector<std::size_t>* best = nullptr;
  double best_kept = 0;
  for (const auto& of_kind : places) {
    if (of_kind.size() < fewest_steps) continue;
    const auto [gap, count] = usual_gap(of_kind);
    if (gap != period) continue;
    const double kept = static_cast<double>(count) / static_cast<double>(of_kind.size() - 1);
    const double gain = kept - best_kept;
    if (best == nullptr || gain > equally_well || (gain > -equally_well && of_kind.front() < best->front())) {
      best = &of_kind;
      best_kept = std::max(kept, best_kept);
    }
  }
  return best == nullptr ? std::vector<std::size_t>{} : *best;
}

/// The ranges of positions that were submitted within NVTX ranges of this name.
std::vector<std::pair<std::size_t, std::size_t>> parts_in(const Recording& recording,
                                                          const std::vector<SubmittedOp>& submitted,
                                                          std::string_view name) {
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  for (const Record& record : recording.records) {
    const auto* range = std::get_if<RecordedRange>(&record);
    if (range == nullptr || range->name != name) continue;
    const auto first = std::ranges::lower_bound(submitted, range->time.start, {}, &SubmittedOp::time);
    const auto last = std::ranges::upper_bound(submitted, range->time.end, {}, &SubmittedOp::time);
    if (first < last) parts.emplace_back(first - submitted.begin(), last - submitted.begin());
  }
  std::ranges::sort(parts);
  return parts;
}

std::optional<Steps> steps_of(const std::vector<std::pair<std::size_t, std::size_t>>& parts,
                              const std::vector<SubmittedOp>& submitted) {
  if (parts.size() < fewest_steps) return std::nullopt;
  std::map<std::size_t, std::size_t> sizes;
  for (const auto& [first, last] : parts) ++sizes[last - first];
  Steps steps;
  steps.ops = std::ranges::max_element(sizes, {}, [](const auto& size) { return size.second; })->first;
  std::vector<std::pair<std::uint64_t, std::size_t>> times;  // time and index of each step with the usual number of ops
  std::size_t covered = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [first, last] = parts[i];
    steps.bounds.push_back(first);
    covered += last - first;
    const std::size_t next = i + 1 < parts.size() ? parts[i + 1].first : last - 1;
    if (last - first == steps.ops) times.emplace_back(submitted[next].time - submitted[first].time, i);
  }
  steps.bounds.push_back(parts.back().second);
  steps.coverage = static_cast<double>(covered) / static_cast<double>(submitted.size());
  if (times.size() > 1 && times.back().second + 1 == parts.size()) times.pop_back();  // its end is not known
  std::ranges::sort(times);
  steps.typical = times[times.size() / 2].second;
  return steps;
}

}  // namespace

std::vector<std::size_t> submitted_order(const Recording& recording) {
  std::vector<std::size_t> order;
  for (const SubmittedOp& one : submitted_ops(recording)) order.push_back(one.record);
  return order;
}

std::optional<Steps> find_steps(const Recording& recording, std::string_view range) {
  const std::vector<SubmittedOp> submitted = submitted_ops(recording);
  if (!range.empty()) return steps_of(parts_in(recording, submitted, range), submitted);
  const std::vector<Kind> kinds = kinds_of(recording, submitted);
  const auto places = places_of(kinds);
  const std::size_t period = period_of(kinds, places);
  if (period == 0) return std::nullopt;
  const std::vector<std::size_t> begins = begins_of_steps(places, period);
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  for (std::size_t i = 0; i < begins.size(); ++i)
    parts.emplace_back(begins[i], i + 1 < begins.size() ? begins[i + 1] : std::min(begins[i] + period, kinds.size()));
  std::optional<Steps> steps = steps_of(parts, submitted);
  return steps && steps->coverage >= least_coverage ? steps : std::nullopt;
}

}  // namespace shiplap
