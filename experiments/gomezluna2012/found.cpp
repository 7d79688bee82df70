// Access to the times of one workload by layout and number of streams.
#include <algorithm>

#include "experiments/gomezluna2012/runner.hpp"

namespace shiplap::experiments::gomez_luna {

std::string_view words(Layout layout) {
  if (layout == as_280) return "one copy engine";
  if (layout == as_480) return "implicit synchronisation";
  return "today's engines";
}

gomez_luna_2012::Architecture architecture_of(Layout layout) {
  return layout == as_480 ? gomez_luna_2012::Architecture::cc2 : gomez_luna_2012::Architecture::cc1;
}

Choice streams(Layout layout, std::uint32_t count, IssueOrder order) {
  return {.strategy = "streams", .chunks = count, .layout = layout, .order = order};
}

Choice unstreamed() { return {.strategy = "explicit", .chunks = 1, .layout = Layout::per_chunk}; }

std::vector<Choice> sweep(std::span<const Layout> layouts, std::span<const std::uint32_t> counts) {
  std::vector<Choice> choices;
  for (const Layout layout : layouts)
    for (const std::uint32_t n : counts) choices.push_back(streams(layout, n));
  return choices;
}

std::optional<Seconds> Found::unstreamed() const { return alone ? std::optional(alone->time) : std::nullopt; }

const ChoiceTime* Found::run(Layout layout, std::uint32_t count, IssueOrder order) const {
  const auto found = std::ranges::find_if(runs, [&](const ChoiceTime& r) {
    return r.choice.layout == layout && r.choice.chunks == count && r.choice.order == order;
  });
  return found == runs.end() ? nullptr : &*found;
}

std::optional<Seconds> Found::time(Layout layout, std::uint32_t count, IssueOrder order) const {
  const ChoiceTime* found = run(layout, count, order);
  if (found == nullptr) return std::nullopt;
  return found->time;
}

double Found::noise() const {
  double most = alone ? alone->noise : 0;
  for (const ChoiceTime& r : runs) most = std::max(most, r.noise);
  return most;
}

bool Found::steady() const { return (!alone || alone->steady) && std::ranges::all_of(runs, &ChoiceTime::steady); }

std::optional<Gain> Found::gain(Layout layout) const {
  const std::vector<Timed> all = times(layout);
  if (all.empty() || !alone) return std::nullopt;
  const ChoiceTime& best = *run(layout, std::ranges::min_element(all, {}, &Timed::ms)->streams);
  const double ratio = alone->time / best.time;
  const bool adds_up = alone->time <= (stages.total() + handing_over) * (1 + alone_tolerance);
  return Gain{.percent = 100 * (ratio - 1),
              .most = most_gain(stages, handing_over, layout != today),
              .noise = 100 * ratio * (alone->noise + best.noise),
              .steady = alone->steady && best.steady && stages_steady && adds_up};
}

std::vector<Timed> Found::times(Layout layout) const {
  std::vector<Timed> all;
  for (const ChoiceTime& r : runs)
    if (r.choice.layout == layout && r.choice.order == IssueOrder::breadth)
      all.push_back({r.choice.chunks, in_milliseconds(r.time)});
  return all;
}

std::vector<Timed> Found::steady_times(Layout layout) const {
  std::vector<Timed> all = times(layout);
  std::erase_if(all, [&](const Timed& t) { return !run(layout, t.streams)->steady; });
  return all;
}

std::vector<Timed> Found::times_with_none(Layout layout) const {
  std::vector<Timed> all = times(layout);
  if (alone) all.insert(all.begin(), Timed{1, in_milliseconds(alone->time)});
  return all;
}

gomez_luna_2012::Work Found::work_in(std::uint32_t count, Seconds per_stream) const {
  gomez_luna_2012::Work w = work(per_stream);
  w.times.kernel = cost.launch_time((items + count - 1) / count) * count;
  return w;
}

}  // namespace shiplap::experiments::gomez_luna
