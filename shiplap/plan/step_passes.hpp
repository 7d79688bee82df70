// The passes that a step may consist of: each as a job, with an estimate of its time and, where that is asked, the
// choice that is fastest by simulation.
#pragma once

#include <compare>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/plan/ranking.hpp"
#include "shiplap/plan/step_flow.hpp"

namespace shiplap {

/// What tells passes apart: the first part, the number of parts, and what happens to each array.
struct PassKey {
  std::size_t first = 0;
  std::size_t parts = 0;
  std::vector<bool> needed{};
  std::vector<bool> arrives{};
  std::vector<bool> leaves{};
  friend auto operator<=>(const PassKey&, const PassKey&) = default;
};

/// A pass as a job, or why it is none.
struct PassJob {
  std::optional<Job> job{};
  std::vector<std::optional<std::size_t>> arrays{};
  Seconds estimate{std::numeric_limits<double>::infinity()};
  std::string refusal{};
};

/// A pass with the choice that the search prefers.
struct RankedPass {
  std::shared_ptr<const Candidate> best{};  ///< without an interval
  Limits limits{};                          ///< device memory that homes of others leave
  std::string refusal{};
};

/// Makes each pass once.
class StepPasses {
 public:
  /// Everything must outlive the object.
  StepPasses(const Profile& profile, const Step& step, const StepArrays& arrays, const Limits& limits,
             const StepFlow& flow)
      : profile_(profile), step_(step), arrays_(arrays), limits_(limits), flow_(flow) {}

  /// The pass of the parts [first, end), and its key.
  const PassJob& pass(std::size_t first, std::size_t end, const std::vector<bool>& at_home,
                      const std::vector<PartFlow>& flows, PassKey&);
  /// The fastest choice for a pass that is a job. Homes that the pass does not use take device memory too.
  const RankedPass& ranked(const PassKey&, const std::vector<bool>& at_home, const PassJob&);
  /// From now on chunks may grow and shrink, which takes longer to search.
  void refine() {
    refines_ = true;
    ranked_.clear();
  }

 private:
  void make_pass(const PassKey&, const std::vector<bool>& at_home, PassJob&) const;
  Seconds estimate(const Job&, Bytes memory) const;
  Bytes size_of_homes(const std::vector<bool>& at_home) const;
  SearchSpace space_of_pass() const;

  const Profile& profile_;
  const Step& step_;
  const StepArrays& arrays_;
  Limits limits_;
  const StepFlow& flow_;
  bool refines_ = false;  // whether chunks may grow and shrink
  std::map<std::pair<PassKey, std::vector<bool>>, std::optional<PassJob>> passes_;
  std::map<std::pair<PassKey, std::vector<bool>>, std::optional<RankedPass>> ranked_;
};

}  // namespace shiplap
