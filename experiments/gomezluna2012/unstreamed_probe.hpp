// The protocol by which Gómez-Luna et al. (JPDC 2012, §4.4) adapt the number of streams, for comparison.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "shiplap/model/gomez_luna_2012.hpp"
#include "shiplap/plan/adaptation.hpp"

namespace shiplap::experiments::gomez_luna {

struct UnstreamedProbeOptions {
  gomez_luna_2012::Architecture architecture = gomez_luna_2012::Architecture::cc2;
  Seconds per_stream{0};            ///< t_sc of the paper: what each stream costs
  double threshold = 0.15;          ///< of observed over expected, minus 1; the paper gives none
  std::uint32_t confirmations = 2;  ///< batches in a row beyond it before a new probe; the paper gives none
};

/// The first batch runs without streams, and t_Thd, t_E and t_Tdh are taken of it; the paper's equations give the
/// number of streams for those that follow, and the time that they should take. Where they do not, one batch runs
/// without streams again. Where the equation itself is off by more than the threshold, the first batch in streams
/// stands for it: otherwise every second batch would be without.
class UnstreamedProbe final : public Policy {
 public:
  /// `streams[i]` is the number of streams of choice i; one of them is 1. Throws Error without one.
  explicit UnstreamedProbe(std::vector<std::uint32_t> streams, const UnstreamedProbeOptions& = {});

  std::uint32_t choice(std::uint64_t batch) override;
  Wanted wanted(std::uint64_t batch) const override;
  std::optional<Decision> observe(const BatchSeen&) override;

  /// Batches without streams until now.
  std::uint64_t probes() const { return probes_; }

 private:
  std::vector<std::uint32_t> streams_;
  UnstreamedProbeOptions options_;
  std::uint32_t alone_ = 0;  ///< the choice without streams
  std::uint32_t current_ = 0;
  std::optional<std::uint64_t> probe_;  ///< the batch that is one, until it was observed
  bool probe_next_ = true;
  std::optional<Seconds> expected_;  ///< of a batch in streams
  bool is_first_ = false;            ///< the next batch in streams is the first behind a probe
  std::uint32_t beyond_ = 0;         ///< batches in a row
  std::uint64_t probes_ = 0;
};

}  // namespace shiplap::experiments::gomez_luna
