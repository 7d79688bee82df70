#include "shiplap/plan/preference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "shiplap/strategy/strategy.hpp"

namespace shiplap {
namespace {

// A less simple candidate is preferred only where it is predicted faster by more than these fractions. They are about
// as large as the errors of the predictions that were found on an H200 with random jobs (docs/explanation/accuracy.md).

// Streams that several chunks share are predicted to several per cent only.
constexpr double close_layout = 0.05;
// The time of a ramp depends on the ratio of the rates of the two directions, and that of a steep one on small
// launches.
constexpr double close_ramp = 0.002;
constexpr double close_steep_ramp = 0.01;
constexpr double steep_growth = 1.5;  // size of a chunk relative to the one before
// Each block of a grid that is smaller than the kernel's own does more of the work, so one slow SM delays more of it.
constexpr double close_grid = 0.01;

// A graph has to be instantiated before the first run.
double close_graph(Seconds time) { return std::max(0.005, microseconds(1) / time); }
// Copies in batches add a call that older drivers lack.
constexpr double close_batch = 0.002;

// Another GPU is used only where that pays (see `pays`).
double close_relay(Seconds time) { return std::max(0.11, microseconds(20) / time); }

// Zero-copy kernels concurrent with copies are predicted to a few per cent only.
constexpr double close_shared = 0.05;

// How complex a layout is. 0: each engine serves one stream; 1: each chunk has a stream; 2: chunks share streams.
int complexity(const Choice& choice) {
  return choice.layout == Layout::three ? 0 : choice.layout == Layout::per_chunk ? 1 : 2;
}

/// Moves simpler candidates to the front of a list, step by step.
class Simplification {
 public:
  explicit Simplification(std::vector<Candidate>& tried) : tried_(tried) {}

  /// Moves one candidate to the front: the one that `less` puts first, among those that `eligible` admits and that are
  /// predicted within the factor 1 + `close` of the first. The others keep their order. `how`, a text or a function of
  /// the choice, says how it is simpler.
  template <class How, class Eligible, class Less>
  void prefer(double close, const How& how, const Eligible& eligible, const Less& less) {
    const Seconds limit = tried_.front().predicted.value * (1 + close);
    auto best = tried_.begin();
    for (auto t = tried_.begin(); t != tried_.end(); ++t)
      if (t->predicted.value <= limit && eligible(t->choice) && less(t->choice, best->choice)) best = t;
    if (best == tried_.begin()) return;
    std::rotate(tried_.begin(), best, best + 1);
    std::string_view reason;
    if constexpr (std::is_convertible_v<How, std::string_view>)
      reason = how;
    else
      reason = how(tried_.front().choice);
    if (how_.empty() || how_.back() != reason) how_.push_back(reason);
  }
  std::string reason() const { return fmt::format("{}", fmt::join(how_, ", and ")); }

 private:
  std::vector<Candidate>& tried_;
  std::vector<std::string_view> how_;
};

bool shares_the_link(const Choice& choice) {
  const Strategy& strategy = find_strategy(choice.strategy);
  return strategy.zero_copy && strategy.chunked;
}

}  // namespace

std::string sort_by_preference(std::vector<Candidate>& tried) {
  std::ranges::stable_sort(tried, {}, [](const Candidate& candidate) { return candidate.predicted.value; });
  Simplification simpler(tried);
  const auto any = [](const Choice&) { return true; };
  const auto relays = [](const Choice& c) { return !c.relay.through.empty(); };
  simpler.prefer(close_relay(tried.front().predicted.value), "it leaves other GPUs alone", any,
                 [&](const Choice& a, const Choice& b) { return !relays(a) && relays(b); });
  simpler.prefer(close_shared, "its kernels do not share the link with copies", any,
                 [](const Choice& a, const Choice& b) { return !shares_the_link(a) && shares_the_link(b); });
  simpler.prefer(
      close_layout,
      [](const Choice& c) {
        return complexity(c) == 0 ? "its streams are simpler, one for each engine"
                                  : "its streams are simpler, one for each chunk";
      },
      [first = tried.front().choice](const Choice& c) { return c.strategy == first.strategy; },
      [](const Choice& a, const Choice& b) { return complexity(a) < complexity(b); });
  const auto growth = [](const Choice& c) { return c.ramp.level() ? 1.0 : c.ramp.growth; };
  const auto alike = [first = tried.front().choice](const Choice& c) {
    return c.strategy == first.strategy && c.layout == first.layout;
  };
  constexpr std::string_view gentler = "its chunks differ less in size";
  simpler.prefer(close_steep_ramp, gentler, alike, [&](const Choice& a, const Choice& b) {
    return growth(a) < steep_growth && growth(b) >= steep_growth;
  });
  simpler.prefer(close_ramp, gentler, alike, [&](const Choice& a, const Choice& b) { return growth(a) < growth(b); });
  simpler.prefer(close_graph(tried.front().predicted.value), "it needs no graph", alike,
                 [](const Choice& a, const Choice& b) { return !a.graph && b.graph; });
  simpler.prefer(close_batch, "it needs no copies in batches", alike,
                 [](const Choice& a, const Choice& b) { return !a.batched && b.batched; });
  simpler.prefer(close_grid, "its kernels keep their own grid", alike,
                 [](const Choice& a, const Choice& b) { return a.max_grid == 0 && b.max_grid != 0; });
  return simpler.reason();
}

}  // namespace shiplap
