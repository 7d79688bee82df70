// What tests of reproductions share: a virtual device as the command line gives it to the steps, and what they found
// there.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "experiments/reproduction.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/device/open.hpp"

namespace shiplap::experiments {

/// A simulated device with its own profile.
struct VirtualBench {
  explicit VirtualBench(const std::string& profile, bool quick = true)
      : device(open("virtual:" + profile)),
        bench{.device = *device,
              .info = device->info(),
              .profile = find_profile(profile),
              .limits = limits_of(find_profile(profile)),
              .quick = quick} {
    if (bench.info.resident_threads > 0) bench.limits.resident_threads = bench.info.resident_threads;
  }
  std::shared_ptr<MeasurableDevice> device;
  Bench bench;
};

/// All steps, or those named.
inline Reproduction reproduced(const Experiment& experiment, const Bench& bench, std::vector<std::string> only = {}) {
  Reproduction r = begin_reproduction(experiment, bench);
  const bool every = only.empty();
  const bool whole =
      run_steps(experiment, bench, {.only = std::move(only)}, r, [](const Reproduction&, const Step&) {});
  if (every && !whole) throw Error("not every step was done");
  return r;
}

/// Throws Error when no step made it.
inline const Figure& figure_of(const Reproduction& r, std::string_view id) {
  for (const auto& [step, done] : r.steps)
    for (const Figure& figure : done.result.figures)
      if (figure.id == id) return figure;
  throw Error("no figure " + std::string(id));
}

/// Throws Error when nothing was found about the claim.
inline Verdict verdict_of(const Experiment& experiment, const Reproduction& r, std::string_view claim) {
  const Finding* found = finding_of(experiment, r, claim);
  if (found == nullptr) throw Error("no finding about " + std::string(claim));
  return found->verdict;
}

}  // namespace shiplap::experiments
