// The protocol of Gómez-Luna et al. (JPDC 2012, §4.4) that adapts the number of streams, for comparison.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shiplap/model/gomez_luna_2012.hpp"
#include "shiplap/plan/adaptation.hpp"

namespace shiplap::experiments::gomez_luna {

struct UnstreamedProbeOptions {
  gomez_luna_2012::Architecture architecture = gomez_luna_2012::Architecture::cc2;
  Seconds per_stream{0};            ///< time that each stream adds, t_sc of the paper
  double threshold = 0.15;          ///< largest deviation of observed over expected, minus 1; the paper gives none
  std::uint32_t confirmations = 2;  ///< consecutive batches beyond the threshold before a new probe; the paper gives
                                    ///< none
};

/// The policy of the protocol. The first batch runs without streams, and t_Thd, t_E and t_Tdh are measured on it. The
/// paper's equations then give the number of streams for the next batches and their expected time. When the observed
/// time differs, one batch runs without streams again. When the equation itself is wrong by more than the threshold,
/// the time of the first batch in streams replaces the expected time; otherwise every second batch would run without
/// streams.
class UnstreamedProbe final : public Policy {
 public:
  /// `streams[i]` is the number of streams of choice i. Throws Error when none of them is 1.
  explicit UnstreamedProbe(std::vector<std::uint32_t> streams, const UnstreamedProbeOptions& = {});

  std::uint32_t choice(std::uint64_t batch) override;
  TraceLevel trace_level(std::uint64_t batch) const override;
  std::optional<BatchDecision> observe(const BatchObservation&) override;

  /// Number of batches without streams until now.
  std::uint64_t probes() const { return probes_; }

 private:
  std::vector<std::uint32_t> streams_;
  UnstreamedProbeOptions options_;
  std::uint32_t alone_ = 0;  ///< the choice without streams
  std::uint32_t current_ = 0;
  std::optional<std::uint64_t> probe_;  ///< number of the probe batch, until it was observed
  bool probe_next_ = true;
  std::optional<Seconds> expected_;  ///< expected time of a batch in streams
  bool is_first_ = false;            ///< the next batch in streams is the first after a probe
  std::uint32_t beyond_ = 0;         ///< consecutive batches beyond the threshold
  std::uint64_t probes_ = 0;
};

}  // namespace shiplap::experiments::gomez_luna
