#include "shiplap/advise/steps.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "shiplap/advise/cuda_functions.hpp"

namespace shiplap {
namespace {

constexpr std::size_t fewest_steps = 3;
constexpr double least_coverage = 0.5;
/// Each period is confirmed by all tokens, so only the periods of the kinds that occur most often are. A recording of a
/// million kinds with a period of their own each would take hours otherwise.
constexpr std::size_t most_periods = 256;
/// A period that is confirmed by this fraction of the tokens that confirm the best one is as good as it.
constexpr double nearly_as_often = 0.995;
/// Kinds of ops keep the period equally well when the fractions of their distances that are the period differ by less
/// than this; a kind that is a more natural begin of a step may keep it worse by `natural_begin`.
constexpr double equally_well = 0.01;
constexpr double natural_begin = 0.05;

/// A copy, kernel or fill.
struct SubmittedOp {
  std::size_t record;    ///< index in `Recording::records`
  std::uint64_t time;    ///< begin of its call, or of its work where the call was not recorded; ns
  std::uint64_t on_gpu;  ///< begin of its work; ns
};

using Calls = std::unordered_map<std::uint64_t, const RecordedCall*>;
Calls calls_of(const Recording& recording) {
  Calls calls;
  for (const Record& record : recording.records)
    if (const auto* call = std::get_if<RecordedCall>(&record)) calls.emplace(call->call, call);
  return calls;
}

std::vector<SubmittedOp> submitted_ops(const Recording& recording, const Calls& calls) {
  std::vector<SubmittedOp> found;
  for (std::size_t i = 0; i < recording.records.size(); ++i)
    if (const auto work = work_of(recording.records[i])) {
      const auto call = calls.find(work->call);
      found.push_back({i, call == calls.end() ? work->time.start : call->second->time.start, work->time.start});
    }
  std::ranges::stable_sort(found, {}, &SubmittedOp::time);
  return found;
}

/// Tokens with one number are alike.
using Kind = std::uint32_t;
constexpr Kind wait_of_host = 0;

/// One op or several like ones in a row, or a wait of the host.
struct Token {
  Kind kind;               ///< an op after a wait is of another kind than the same op elsewhere
  std::size_t position;    ///< its first op in the submitted order, or the op after a wait
  Kind op = wait_of_host;  ///< the kind of its ops
  bool is_result = false;  ///< whether it copies to the host
};

/// Numbers the kinds of ops.
class Kinds {
 public:
  Kind of(const Record& record) {
    Description key{record.index(), {}, 0, 0, 0};
    if (const auto* kernel = std::get_if<RecordedKernel>(&record))
      key = {record.index(), kernel->name, kernel->blocks, kernel->threads, stream_of(*kernel)};
    else if (const auto* copy = std::get_if<RecordedCopy>(&record))
      key = {record.index(),
             {},
             copy->size.count,
             static_cast<std::uint64_t>(copy->from) << 8u | static_cast<std::uint64_t>(copy->to),
             stream_of(*copy)};
    else if (const auto* fill = std::get_if<RecordedFill>(&record))
      key = {record.index(), {}, fill->size.count, 0, stream_of(*fill)};
    return 3 * known_.try_emplace(std::move(key), static_cast<Kind>(known_.size() + 1)).first->second;
  }
  /// The kind of an op of this kind that follows a wait of the host, which may have been for results.
  static Kind after_wait(Kind op, bool for_results) { return op + (for_results ? 2 : 1); }

 private:
  using Description = std::tuple<std::size_t, std::string, std::uint64_t, std::uint64_t, std::uint64_t>;
  static std::uint64_t stream_of(const auto& work) { return std::uint64_t{work.gpu} << 32u | work.stream; }
  std::map<Description, Kind> known_;
};

/// When the host waited: in calls that wait, and at the end of copies that return when they have ended.
std::vector<std::uint64_t> times_of_waits(const Recording& recording, const Calls& calls) {
  std::vector<std::uint64_t> times;
  for (const Record& record : recording.records) {
    if (const auto* order = std::get_if<RecordedOrder>(&record)) {
      const bool waits = order->kind != RecordedOrder::Kind::record && order->kind != RecordedOrder::Kind::stream_wait;
      if (const auto call = calls.find(order->call); waits && call != calls.end())
        times.push_back(call->second->time.start);
    } else if (const auto* copy = std::get_if<RecordedCopy>(&record)) {
      const auto call = calls.find(copy->call);
      if (call != calls.end() && !is_asynchronous(call->second->function)) times.push_back(call->second->time.end);
    }
  }
  std::ranges::sort(times);
  return times;
}

std::vector<Token> tokens_of(const Recording& recording, const std::vector<SubmittedOp>& submitted,
                             const std::vector<std::uint64_t>& waits) {
  std::vector<Token> tokens;
  Kinds kinds;
  const auto add = [&](Token token) {
    if (!tokens.empty() && tokens.back().op == token.op) return;
    if (!tokens.empty() && tokens.back().kind == wait_of_host)
      token.kind = Kinds::after_wait(token.op, tokens.size() > 1 && tokens[tokens.size() - 2].is_result);
    tokens.push_back(token);
  };
  auto wait = waits.begin();
  for (std::size_t i = 0; i < submitted.size(); ++i) {
    for (; wait != waits.end() && *wait < submitted[i].time; ++wait) add({wait_of_host, i, wait_of_host});
    const Record& record = recording.records[submitted[i].record];
    const auto* copy = std::get_if<RecordedCopy>(&record);
    const Kind kind = kinds.of(record);
    add({kind, i, kind, copy != nullptr && copy->to != MemoryKind::device});
  }
  return tokens;
}

std::vector<std::vector<std::size_t>> places_of(const std::vector<Token>& tokens) {
  std::vector<std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind >= places.size()) places.resize(tokens[i].kind + 1u);
    places[tokens[i].kind].push_back(i);
  }
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

/// Number of tokens that are like the token one period later.
std::size_t confirmed(const std::vector<Token>& tokens, std::size_t period) {
  std::size_t alike = 0;
  for (std::size_t i = 0; i + period < tokens.size(); ++i) alike += tokens[i].kind == tokens[i + period].kind ? 1 : 0;
  return alike;
}

std::size_t period_of(const std::vector<Token>& tokens, const std::vector<std::vector<std::size_t>>& places) {
  std::vector<const std::vector<std::size_t>*> kinds;
  for (const auto& of_kind : places)
    if (of_kind.size() >= fewest_steps) kinds.push_back(&of_kind);
  std::ranges::stable_sort(kinds, std::ranges::greater{}, [](const auto* of_kind) { return of_kind->size(); });
  std::map<std::size_t, std::size_t> confirmations;
  for (const auto* of_kind : kinds) {
    if (confirmations.size() == most_periods) break;
    if (const std::size_t gap = usual_gap(*of_kind).first; !confirmations.contains(gap))
      confirmations[gap] = confirmed(tokens, gap);
  }
  std::size_t most = 0;
  for (const auto& [gap, alike] : confirmations) most = std::max(most, alike);
  for (const auto& [gap, alike] : confirmations)
    if (most > 0 && static_cast<double>(alike) >= nearly_as_often * static_cast<double>(most)) return gap;
  return 0;
}

/// How natural it is that a step begins at a token: 2 after the host has waited for results, 1 after another wait.
int naturalness(const std::vector<Token>& tokens, std::size_t token) {
  if (token == 0 || tokens[token - 1].kind != wait_of_host) return 0;
  return token > 1 && tokens[token - 2].is_result ? 2 : 1;
}

/// The tokens where steps of this period begin. They are of the kind that keeps the period best. Among kinds that keep
/// it equally well, it is the most natural begin, then the rarest kind, and then the first in the recording.
std::vector<std::size_t> begins_of_steps(const std::vector<Token>& tokens,
                                         const std::vector<std::vector<std::size_t>>& places, std::size_t period) {
  const std::vector<std::size_t>* best = nullptr;
  double best_kept = 0;
  int best_natural = 0;
  for (std::size_t kind = wait_of_host + 1; kind < places.size(); ++kind) {
    const auto& of_kind = places[kind];
    if (of_kind.size() < fewest_steps) continue;
    const auto [gap, count] = usual_gap(of_kind);
    if (gap != period) continue;
    const double kept = static_cast<double>(count) / static_cast<double>(of_kind.size() - 1);
    const int natural = naturalness(tokens, of_kind[of_kind.size() / 2]);
    const double gain = kept - best_kept;
    // A kind that occurs less often begins fewer steps that are none.
    const auto plainer = [&] {
      return best != nullptr && std::pair(of_kind.size(), of_kind.front()) < std::pair(best->size(), best->front());
    };
    const bool better = natural != best_natural ? gain > (natural > best_natural ? -natural_begin : natural_begin)
                                                : gain > equally_well || (gain > -equally_well && plainer());
    if (best == nullptr || better) {
      best = &of_kind;
      best_natural = natural;
      best_kept = kept;
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
    const std::uint64_t begin = submitted[first].on_gpu;
    if (last - first == steps.ops) times.emplace_back(std::max(submitted[next].on_gpu, begin) - begin, i);
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
  for (const SubmittedOp& one : submitted_ops(recording, calls_of(recording))) order.push_back(one.record);
  return order;
}

std::optional<Steps> find_steps(const Recording& recording, std::string_view range) {
  const Calls calls = calls_of(recording);
  const std::vector<SubmittedOp> submitted = submitted_ops(recording, calls);
  if (!range.empty()) return steps_of(parts_in(recording, submitted, range), submitted);
  const std::vector<Token> tokens = tokens_of(recording, submitted, times_of_waits(recording, calls));
  const auto places = places_of(tokens);
  const std::size_t period = period_of(tokens, places);
  if (period == 0) return std::nullopt;
  const std::vector<std::size_t> begins = begins_of_steps(tokens, places, period);
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : begins[i] + period;
    parts.emplace_back(tokens[begins[i]].position, end < tokens.size() ? tokens[end].position : submitted.size());
  }
  std::optional<Steps> steps = steps_of(parts, submitted);
  return steps && steps->coverage >= least_coverage ? steps : std::nullopt;
}

}  // namespace shiplap
