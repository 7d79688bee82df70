// The search for the fastest choices of one strategy, by simulation, or by a closed form where the simulator lacks a
// figure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/plan/job_movers.hpp"
#include "shiplap/plan/ranking.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/strategy/strategy.hpp"

namespace shiplap {

/// A plan is made for arrays of at most this size together: no host has more memory.
inline constexpr Bytes most_planned = 1024_GiB * 1024;

/// Most host threads of a choice in each direction.
inline constexpr std::uint32_t most_threads = 256;

/// A search simulates no further choice once it has simulated this many ops, which takes about half a second.
inline constexpr std::size_t most_simulated_ops = std::size_t{1} << 19;

/// Simulates choices of one strategy after another. Each schedule is built once.
class Search {
 public:
  /// The job and the profile must outlive the search.
  Search(const Job&, const Profile&, SearchSpace, Limits);

  /// Tries the choices of one strategy that may be the fastest. Throws UsageError when the space asks for an invalid
  /// choice.
  void run(const Strategy&);

  std::vector<Candidate> tried;          ///< candidates with a time; their `predicted` has no interval yet
  std::size_t simulated_ops = 0;         ///< ops of all schedules that were simulated
  std::size_t left_out = 0;              ///< choices that were not simulated because of `most_simulated_ops`
  std::string refusal;                   ///< the reason of the last choice that was impossible
  std::vector<std::string> assumptions;  ///< assumptions of the simulations

 private:
  void try_single_calls(const Strategy&);
  void try_fewer_calls(const Strategy&);
  void try_other_movers(const Strategy&);
  void try_relays(const Strategy&);
  std::vector<Choice> fastest(std::size_t count) const;
  const std::vector<JobMovers>& movers(const Choice&);
  void try_pipelines(const Strategy&);
  void try_pipelines(const Strategy&, Layout, IssueOrder);
  void try_zero_copy(const Strategy&);
  void try_unpinned(const Strategy&);
  void try_grids(const Strategy&, const std::vector<std::uint64_t>& grids, const std::vector<std::uint32_t>& chunks);
  void try_choice(const Strategy&, Choice);

  bool has_more_chunks(std::uint32_t& chunks) const;
  std::vector<std::uint32_t> chunks_worth_trying(const Strategy&) const;
  std::vector<std::uint32_t> threads_worth_trying() const;
  std::vector<std::uint64_t> grids_worth_trying() const;
  std::vector<Ramp> different_ramps(std::uint32_t chunks) const;
  const Choice& fastest_since(std::size_t first) const;

  const Job& job_;
  const Profile& profile_;
  SearchSpace space_;
  Limits limits_;
  std::uint64_t most_chunks_;
  std::size_t kept_ops_ = 0;
  std::vector<JobMovers> movers_of_own_streams_;  // empty until they are needed
  std::vector<JobMovers> movers_of_shared_streams_;
};

}  // namespace shiplap
