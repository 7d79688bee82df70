// Runs two ways of the same work alternately and compares their medians.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "shiplap/core/statistics.hpp"

namespace by_hand {

/// Time of `work` in milliseconds by the host's clock.
inline double timed(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/// One way to do the work, with the parameters that it uses.
struct Way {
  std::string what;
  std::function<void()> run;
};

struct Comparison {
  std::string name;
  std::string by_hand;
  std::string shiplap;
  double predicted_ms = 0;
  double single_jobs_ms = 0;  ///< time of a step's kernels as jobs, one after the other; 0: no step
  std::vector<double> by_hand_ms;
  std::vector<double> shiplap_ms;
  bool right = true;  ///< both variants computed the right result

  double ratio() const { return shiplap::median(shiplap_ms) / shiplap::median(by_hand_ms); }
};

/// The way with the least median of a few runs.
inline const Way& best_of(const std::vector<Way>& ways, unsigned repeats) {
  const Way* best = &ways.front();
  double least = 0;
  for (const Way& way : ways) {
    std::vector<double> times;
    for (unsigned i = 0; i <= repeats; ++i) {
      const double time = timed(way.run);
      if (i > 0) times.push_back(time);
    }
    const double time = shiplap::median(times);
    if (&way == &ways.front() || time < least) {
      least = time;
      best = &way;
    }
  }
  return *best;
}

/// Runs both variants alternately; the first one changes from round to round.
inline void compare(Comparison& into, const Way& by_hand, const Way& shiplap, unsigned rounds) {
  into.by_hand = by_hand.what;
  into.shiplap = shiplap.what;
  by_hand.run();
  shiplap.run();
  for (unsigned i = 0; i < rounds; ++i) {
    if (i % 2 == 0) into.by_hand_ms.push_back(timed(by_hand.run));
    into.shiplap_ms.push_back(timed(shiplap.run));
    if (i % 2 == 1) into.by_hand_ms.push_back(timed(by_hand.run));
  }
}

}  // namespace by_hand
