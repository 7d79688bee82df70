// What a profile file has beside the parameters: the reasons why some are missing, the errors of the fits, and the
// measurements behind them.
#pragma once

#include <cmath>

#include "shiplap/core/record.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// The name of the clock that a measurement was taken with.
struct ClockName : Form<std::string> {
  static std::string read(const JsonReader& json) {
    std::string clock = json.string();
    if (clock != "events" && clock != "host") json.fail("one of events, host");
    return clock;
  }
  static Json schema() { return {{"enum", {"events", "host"}}}; }
};
/// At least one sample in us. Samples are rounded to 0.1 ns, below the resolution of the clocks, to keep files small.
struct RoundedSamples : ListOf<double, NonNegative> {
  RoundedSamples() : ListOf{.least = 1} {}
  static Json write(const std::vector<double>& samples_us) {
    Json samples = Json::array();
    for (const double us : samples_us) samples.push_back(std::round(us * 1e4) / 1e4);
    return samples;
  }
};

template <class V, Like<Missing> R>
void describe(V& v, R& missing) {
  v.field("parameter", missing.parameter, "Path of the parameter in this file, such as gpus[0].launch_latency.",
          NonEmptyText{});
  v.field("reason", missing.reason, "Why there is no value.", NonEmptyText{});
}
template <class V, Like<Residual> R>
void describe(V& v, R& residual) {
  v.field("parameter", residual.parameter,
          "Path of the parameter or of the part of the profile, such as links[0].h2d.costs.", NonEmptyText{});
  v.field("worst", residual.worst, "Largest |fit - measured| / measured, a fraction.", NonNegative{});
  v.field("at", residual.at, "The point with the largest error.");
}
template <class V, Like<Measurement> R>
void describe(V& v, R& m) {
  v.field("primitive", m.primitive, "What was measured, such as copy.pinned.h2d.", NonEmptyText{});
  v.field("arguments", m.arguments, "The point, such as {\"bytes\": 4096, \"copies\": 16}; sizes in bytes.");
  v.field("clock", m.clock, "events: between two events of the device; host: on the host, with the wait.", ClockName{});
  v.field("visits", m.visits,
          "2: the second half of the samples was taken much later in the run. When the medians of the two halves "
          "differ by more than their 95 % intervals, the slower one was disturbed and figures come from the other.",
          Form<unsigned>{.least = 1, .most = 2});
  v.field("verified", m.verified, "Whether the bytes that moved were compared and found equal.");
  v.field("samples_us", m.samples_us, "Every sample, in us, rounded to 4 decimals (0.1 ns) when written.",
          RoundedSamples{});
  v.only_if(!m.held_by.empty(), "held_by", m.held_by,
            "What reduced the GPU's clocks meanwhile; absent: nothing, or it is unknown.", NonEmptyText{});
}

}  // namespace shiplap
