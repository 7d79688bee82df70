#include "shiplap/advise/steps.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "shiplap/advise/step_tokens.hpp"

namespace shiplap {
namespace {

constexpr std::size_t fewest_steps = 3;
constexpr double least_coverage_of_steps = 0.5;
constexpr double least_likeness = 0.7;
/// Each way to cut the program into steps is measured on all tokens, so that only this many are. A recording of a
/// million kinds would take hours otherwise.
constexpr std::size_t most_cuts = 256;
constexpr std::size_t most_cuts_of_a_count = 3;  // kinds that occur equally often tell nearly the same
/// An op that the step before has with another size or grid is as like as this.
constexpr double likeness_of_another_size = 0.95;
/// A step may do something this many times as often as the step before, and is like it.
constexpr std::size_t most_times_as_often = 2;
/// An op of one size or grid begins steps where this fraction of its distances is the same: by chance it is not.
constexpr double least_regularity = 0.75;
/// A cut whose likeness is this fraction of the best one is as good as it.
constexpr double nearly_as_alike = 0.995;
/// Kinds of ops begin equally good steps when their likeness differs by less than this; a kind that is a more natural
/// begin of a step may be worse by `natural_begin`.
constexpr double equally_alike = 0.01;
constexpr double natural_begin = 0.05;
/// Counts of steps within this factor are of one level of nested steps.
constexpr double same_level = 1.5;
constexpr double least_likeness_of_level = 0.85;
constexpr std::size_t most_levels = 5;

/// A way to cut the program into steps: each begins with a token of one kind.
struct Cut {
  std::vector<std::size_t> begins;  ///< tokens
  std::size_t end = 0;              ///< the token after the last step
  int naturalness = 0;
  double likeness = 0;   ///< fraction of the tokens in steps that the step before has too
  double confirmed = 0;  ///< the number of those tokens as a fraction of all tokens of the program
  bool is_with_host = false;

  std::size_t steps() const { return begins.size(); }
};

/// The fraction of neighbouring distances that are the commonest one.
double regularity_of(const std::vector<std::size_t>& places) {
  std::unordered_map<std::size_t, std::size_t> counts;
  std::size_t most = 0;
  for (std::size_t i = 1; i < places.size(); ++i) most = std::max(most, ++counts[places[i] - places[i - 1]]);
  return static_cast<double>(most) / static_cast<double>(places.size() - 1);
}

/// Where the last step ends: it is as long as the median of the others.
std::size_t end_of_last(const std::vector<std::size_t>& begins, std::size_t tokens) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 1; i < begins.size(); ++i) lengths.push_back(begins[i] - begins[i - 1]);
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>((lengths.size() - 1) / 2);
  std::ranges::nth_element(lengths, middle);
  return std::min(tokens, begins.back() + *middle);
}

/// The cuts that are measured. The most natural begins come first, and then those that occur most often.
std::vector<Cut> cuts_of(const std::vector<StepToken>& tokens) {
  using Begin = std::tuple<bool, OpKind, int>;  // whether it is a family, its number, naturalness
  std::map<Begin, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const StepToken& token = tokens[i];
    if (token.op == wait_of_host) continue;
    places[{false, token.op, token.naturalness}].push_back(i);
    // Ops of a family in a row are one begin.
    if (i == 0 || tokens[i - 1].family != token.family) places[{true, token.family, token.naturalness}].push_back(i);
  }
  std::vector<Cut> cuts;
  for (auto& [begin, of_kind] : places) {
    const auto& [is_family, number, naturalness] = begin;
    if (of_kind.size() < fewest_steps || (!is_family && regularity_of(of_kind) < least_regularity)) continue;
    cuts.push_back({.begins = std::move(of_kind), .naturalness = naturalness});
  }
  const auto rank = [](const Cut& cut) { return std::tuple(-cut.naturalness, -static_cast<double>(cut.steps())); };
  std::ranges::sort(cuts, {}, [&](const Cut& cut) { return std::tuple(rank(cut), cut.begins.front()); });
  std::vector<Cut> few;
  std::size_t alike = 0;
  for (Cut& cut : cuts) {
    const bool is_new = few.empty() || rank(few.back()) != rank(cut);
    alike = is_new ? 0 : alike + 1;
    const bool is_known = !is_new && few.back().begins == cut.begins;
    if (few.size() < most_cuts && alike < most_cuts_of_a_count && !is_known) few.push_back(std::move(cut));
  }
  for (Cut& cut : few) cut.end = end_of_last(cut.begins, tokens.size());
  return few;
}

/// Measures how alike the steps of a cut are.
class Likeness {
 public:
  explicit Likeness(const std::vector<StepToken>& tokens) : tokens_(tokens) {
    std::unordered_map<std::uint64_t, std::uint32_t> numbers;
    OpKind most = wait_of_host;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const OpKind before = i == 0 ? wait_of_host : tokens[i - 1].family;
      const std::uint64_t pair = std::uint64_t{before} << 32u | tokens[i].family;
      // Further ones of a family in a row are like the first one, however many they are.
      pairs_.push_back(i > 0 && before == tokens[i].family
                           ? pairs_.back()
                           : numbers.try_emplace(pair, static_cast<std::uint32_t>(numbers.size())).first->second);
      most = std::max(most, tokens[i].op);
    }
    seen_pairs_.resize(numbers.size());
    seen_ops_.resize(most + std::size_t{1});
  }

  /// A token is confirmed when the step before has an op of its family after one of the same family as well.
  void measure(Cut& cut) {
    step_ += 2;  // what was seen in another cut is not of the step before
    double confirmed = 0;
    std::size_t steps_with_host = 0;
    for (std::size_t s = 0; s < cut.steps(); ++s, ++step_) {
      const std::size_t end = s + 1 < cut.steps() ? cut.begins[s + 1] : cut.end;
      bool is_with_host = false;
      for (std::size_t i = cut.begins[s]; i < end; ++i) {
        is_with_host = is_with_host || tokens_[i].is_with_host;
        const bool is_equal = is_confirmed(seen_ops_[tokens_[i].op]);
        const bool is_anchor = s > 0 && i == cut.begins[s];  // is alike whatever came before
        const bool is_alike = is_confirmed(seen_pairs_[pairs_[i]]) || is_anchor;
        confirmed += !is_alike ? 0 : is_equal ? 1 : likeness_of_another_size;
      }
      steps_with_host += is_with_host ? 1 : 0;
    }
    cut.likeness = confirmed / static_cast<double>(std::max<std::size_t>(1, cut.end - cut.begins[1]));
    cut.confirmed = confirmed / static_cast<double>(tokens_.size());
    cut.is_with_host = 2 * steps_with_host >= cut.steps();
  }

 private:
  struct Seen {
    std::uint64_t step = 0;  ///< the last one in which it was seen
    std::size_t count = 0, before = 0;
  };
  bool is_confirmed(Seen& seen) const {
    if (seen.step != step_) seen = {step_, 0, seen.step + 1 == step_ ? seen.count : 0};
    return ++seen.count <= most_times_as_often * seen.before;
  }

  const std::vector<StepToken>& tokens_;
  std::vector<std::uint32_t> pairs_;  ///< by token: its family and the one before
  std::vector<Seen> seen_pairs_, seen_ops_;
  std::uint64_t step_ = 0;
};

/// Whether a cut of the same level begins steps better. Among kinds that begin equally good ones, it is the most
/// natural begin, then the rarest kind, which begins fewer steps that are none, and then the first in the recording.
bool is_better(const Cut& cut, const Cut& than) {
  const double gain = cut.likeness - than.likeness;
  if (cut.naturalness != than.naturalness)
    return gain > (cut.naturalness > than.naturalness ? -natural_begin : natural_begin);
  if (std::abs(gain) > equally_alike) return gain > 0;
  return std::pair(cut.steps(), cut.begins.front()) < std::pair(than.steps(), than.begins.front());
}

bool are_of_one_level(const Cut& one, const Cut& other) {
  const auto [least, most] = std::minmax({one.steps(), other.steps()});
  return static_cast<double>(most) <= same_level * static_cast<double>(least);
}

/// The cut of the program into its smallest steps that are alike, or null.
const Cut* best_cut(const std::vector<Cut>& cuts) {
  if (cuts.empty()) return nullptr;
  const double least = nearly_as_alike * std::ranges::max_element(cuts, {}, &Cut::confirmed)->confirmed;
  // Steps that exchange something with the host come before those within them that do not.
  const auto size = [&](const Cut& cut) { return std::tuple(cut.confirmed >= least, cut.is_with_host, cut.steps()); };
  const Cut& smallest = *std::ranges::max_element(cuts, {}, size);
  const Cut* chosen = &smallest;
  for (const Cut& cut : cuts)
    if (are_of_one_level(cut, smallest) && is_better(cut, *chosen)) chosen = &cut;
  return chosen;
}

/// The levels of nested steps from the largest steps to the smallest, with the chosen ones.
std::vector<StepLevel> levels_of(const std::vector<Cut>& cuts, const Cut& chosen,
                                 const std::vector<StepToken>& tokens) {
  std::vector<const Cut*> found{&chosen};
  std::vector<const Cut*> by_likeness;
  for (const Cut& cut : cuts)
    if (cut.likeness >= least_likeness_of_level && cut.confirmed >= least_coverage_of_steps * least_likeness_of_level)
      by_likeness.push_back(&cut);
  std::ranges::stable_sort(by_likeness, std::ranges::greater{}, &Cut::confirmed);
  for (const Cut* cut : by_likeness)
    if (found.size() < most_levels &&
        std::ranges::none_of(found, [&](const Cut* one) { return are_of_one_level(*one, *cut); }))
      found.push_back(cut);
  std::ranges::sort(found, {}, &Cut::steps);
  std::vector<StepLevel> levels;
  for (const Cut* cut : found) {
    const std::size_t first = tokens[cut->begins.front()].position, last = tokens[cut->begins.back()].position;
    levels.push_back({cut->steps(), (last - first) / (cut->steps() - 1), cut == &chosen});
  }
  return levels;
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

/// Whether the call of each op of each part was recorded: where a recording has not all calls, a step without them says
/// nothing of the host.
std::vector<bool> with_calls(const std::vector<std::pair<std::size_t, std::size_t>>& parts,
                             const std::vector<SubmittedOp>& submitted) {
  std::vector<bool> called;
  for (const auto& [first, last] : parts)
    called.push_back(std::all_of(submitted.begin() + static_cast<std::ptrdiff_t>(first),
                                 submitted.begin() + static_cast<std::ptrdiff_t>(last),
                                 [](const SubmittedOp& op) { return op.has_call; }));
  return called;
}

std::optional<Steps> steps_of(const std::vector<std::pair<std::size_t, std::size_t>>& parts,
                              const std::vector<SubmittedOp>& submitted) {
  if (parts.empty()) return std::nullopt;
  Steps steps;
  steps.once = parts.size() == 1;
  std::vector<std::size_t> sizes;
  for (const auto& [first, last] : parts) sizes.push_back(last - first);
  std::vector<bool> usual = of_usual_size(sizes), usual_and_called = usual;
  const std::vector<bool> called = with_calls(parts, submitted);
  for (std::size_t i = 0; i < parts.size(); ++i) usual_and_called[i] = usual[i] && called[i];
  if (std::ranges::find(usual_and_called, true) != usual_and_called.end()) usual = std::move(usual_and_called);
  std::vector<std::pair<std::uint64_t, std::size_t>> times;  // time and index of each usual step
  std::size_t ops = 0;
  double busy = 0, all_busy = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [first, last] = parts[i];
    steps.bounds.push_back(first);
    ops += last - first;
    for (std::size_t op = first; op < last; ++op) busy += static_cast<double>(submitted[op].busy);
    const std::size_t next = i + 1 < parts.size() ? parts[i + 1].first : last - 1;
    const std::uint64_t begin = submitted[first].on_gpu;
    if (usual[i]) times.emplace_back(std::max(submitted[next].on_gpu, begin) - begin, i);
  }
  steps.bounds.push_back(parts.back().second);
  for (const SubmittedOp& op : submitted) all_busy += static_cast<double>(op.busy);
  steps.coverage = all_busy > 0 ? busy / all_busy : 1;
  steps.of_ops = static_cast<double>(ops) / static_cast<double>(submitted.size());
  if (times.size() > 1 && times.back().second + 1 == parts.size()) times.pop_back();  // its end is not known
  std::ranges::sort(times);
  steps.typical = times[times.size() / 2].second;
  steps.ops = sizes[steps.typical];
  return steps;
}

}  // namespace

std::vector<bool> of_usual_size(const std::vector<std::size_t>& sizes) {
  std::map<std::size_t, std::size_t> counts;
  for (const std::size_t size : sizes) ++counts[size];
  const auto commonest = std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
  std::pair<std::size_t, std::size_t> range{commonest->first, commonest->first};
  if (2 * commonest->second < sizes.size()) {
    std::vector<std::size_t> sorted = sizes;
    std::ranges::sort(sorted);
    const std::size_t middle = sorted[sorted.size() / 2];
    range = {(middle + 1) / 2, 2 * middle};
  }
  std::vector<bool> usual;
  for (const std::size_t size : sizes) usual.push_back(size >= range.first && size <= range.second);
  return usual;
}

namespace {

std::optional<Steps> steps_by(const std::vector<StepToken>& tokens, const std::vector<SubmittedOp>& submitted) {
  std::vector<Cut> cuts = cuts_of(tokens);
  Likeness likeness(tokens);
  for (Cut& cut : cuts) likeness.measure(cut);
  const Cut* const cut = best_cut(cuts);
  if (cut == nullptr || cut->likeness < least_likeness) return std::nullopt;
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  for (std::size_t i = 0; i < cut->steps(); ++i) {
    const std::size_t end = i + 1 < cut->steps() ? cut->begins[i + 1] : cut->end;
    parts.emplace_back(tokens[cut->begins[i]].position, end < tokens.size() ? tokens[end].position : submitted.size());
  }
  std::optional<Steps> steps = steps_of(parts, submitted);
  if (!steps || std::max(steps->coverage, steps->of_ops) < least_coverage_of_steps) return std::nullopt;
  steps->levels = levels_of(cuts, *cut, tokens);
  return steps;
}

}  // namespace

std::optional<Steps> find_steps(const Recording& recording, std::string_view range) {
  const RecordedCalls calls = calls_of(recording);
  const std::vector<SubmittedOp> submitted = submitted_ops(recording, calls);
  if (!range.empty()) return steps_of(parts_in(recording, submitted, range), submitted);
  const std::vector<std::uint64_t> waits = times_of_waits(recording, calls);
  for (const StreamsOfSteps streams : {StreamsOfSteps::tell_apart, StreamsOfSteps::are_alike})
    if (std::optional<Steps> steps = steps_by(tokens_of(recording, submitted, waits, streams), submitted)) return steps;
  return std::nullopt;
}

std::optional<Steps> whole_program(const Recording& recording) {
  const std::vector<SubmittedOp> submitted = submitted_ops(recording, calls_of(recording));
  return submitted.empty() ? std::nullopt : steps_of({{0, submitted.size()}}, submitted);
}

}  // namespace shiplap
