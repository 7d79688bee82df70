#include "experiments/gomezluna2012/unstreamed_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "shiplap/core/error.hpp"

namespace shiplap::experiments::gomez_luna {

UnstreamedProbe::UnstreamedProbe(std::vector<std::uint32_t> streams, const UnstreamedProbeOptions& options)
    : streams_(std::move(streams)), options_(options) {
  const auto alone = std::ranges::find(streams_, 1u);
  if (alone == streams_.end()) throw Error("none of the choices is without streams: there is nothing to probe with");
  alone_ = current_ = static_cast<std::uint32_t>(alone - streams_.begin());
}

std::uint32_t UnstreamedProbe::choice(std::uint64_t batch) {
  if (!probe_next_) return current_;
  probe_next_ = false;
  probe_ = batch;
  ++probes_;
  return alone_;
}

TraceLevel UnstreamedProbe::trace_level(std::uint64_t batch) const {
  return probe_ == batch ? TraceLevel::stages : TraceLevel::span;
}

std::optional<BatchDecision> UnstreamedProbe::observe(const BatchObservation& seen) {
  if (probe_ == seen.batch) {
    if (!seen.stages) throw Error("the stages of a batch without streams were asked for and not observed");
    const gomez_luna_2012::Work work{.times = *seen.stages, .per_stream = options_.per_stream};
    const auto time = [&](std::uint32_t choice) {
      return choice == alone_ ? unstreamed_time(work) : streamed_time(work, streams_[choice], options_.architecture);
    };
    BatchDecision decision{.after = seen.batch, .from = current_, .to = alone_};
    for (std::uint32_t choice = 0; choice < streams_.size(); ++choice)
      if (time(choice) < time(decision.to)) decision.to = choice;
    decision.reason = fmt::format("without streams {:.4g} us in, {:.4g} us kernel, {:.4g} us out: {} streams",
                                  in_microseconds(seen.stages->h2d), in_microseconds(seen.stages->kernel),
                                  in_microseconds(seen.stages->d2h), streams_[decision.to]);
    decision.period_from = time(current_);
    decision.period_to = time(decision.to);
    current_ = decision.to;
    expected_ = decision.period_to;
    is_first_ = true;
    beyond_ = 0;
    probe_.reset();
    return decision;
  }
  if (!expected_ || probe_ || probe_next_ || seen.choice != current_) return std::nullopt;
  const double off = seen.span / *expected_ - 1;
  if (std::exchange(is_first_, false) && std::abs(off) > options_.threshold) {
    expected_ = seen.span;
    return std::nullopt;
  }
  beyond_ = std::abs(off) > options_.threshold ? beyond_ + 1 : 0;
  if (beyond_ < options_.confirmations) return std::nullopt;
  probe_next_ = true;
  return BatchDecision{
      .after = seen.batch,
      .reason = fmt::format("a batch is off by {:+.0f} % of what it should take, the {}th in a row: one runs "
                            "without streams",
                            100 * off, beyond_),
      .from = current_,
      .to = alone_};
}

}  // namespace shiplap::experiments::gomez_luna
