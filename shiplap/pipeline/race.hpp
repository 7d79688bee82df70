// A race: the best candidates of a plan run in turn on the device until the fastest one is known.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/core/json_forward.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/plan/elimination.hpp"
#include "shiplap/plan/ranking.hpp"

namespace shiplap {

/// A candidate that took part in a race.
struct Finalist {
  Choice choice;                  ///< the strategy and its parameters
  Interval<Seconds> predicted;    ///< the plan's prediction
  std::vector<double> seconds{};  ///< measured makespan of each round of its last heat
  bool dropped = false;   ///< significantly slower than the winner of its heat, or that winner lost a later heat
  std::string not_run{};  ///< why it could not be prepared; empty when it ran
};

/// The outcome of a race.
struct RaceResult {
  std::vector<Finalist> finalists;  ///< the plan's first choice in front
  std::size_t winner = 0;           ///< index into `finalists`
  unsigned rounds = 0;              ///< number of rounds
  Seconds ran{0};                   ///< sum of the makespans of all runs
  Seconds took{0};                  ///< host time including preparation
  bool kept = false;                ///< whether the result was read from the cache (race_store.hpp)
  bool simulated = false;           ///< whether the device is virtual, so that the times were not observed
  std::string note{};               ///< for the user: why the cache was not used, and where the result is cached

  const Finalist& best() const { return finalists[winner]; }  ///< the winner
  /// One sentence with the winner, the number of candidates and the time of the plan's first choice.
  std::string to_string() const;
};

/// The candidates of a race.
struct RaceField {
  std::vector<Candidate> first_heat;  ///< the plan's first choice in front
  /// Returns variants of a winner, which race it in a further heat. May be empty: then there is one heat.
  std::function<std::vector<Candidate>(const Choice& winner)> variants{};
};

/// Selects the candidates of a race, at most `most` for the first heat. The plan's first choice comes first. Then
/// follow the best candidate of every other strategy that is predicted within twice the best, and of every strategy
/// without zero-copy even beyond that; candidates that are predicted faster than the plan's first choice, which the
/// plan prefers for its simplicity; and variants of the first three: as a graph, in batches, with other numbers of
/// chunks, layouts, grids and threads. Variants that the plan's options exclude are left out. The job and the profile
/// must outlive the result.
RaceField race_field(const Job&, const Profile&, const Ranking&, const Limits&, const SearchSpace& = {},
                     std::size_t most = 12);

/// Prepares a candidate for repeated runs.
using MakeReady = std::function<Prepared(const Candidate&)>;

/// A heat runs a set of candidates in turn (see Elimination) until the fastest is known; the first heat runs
/// `first_heat`. Variants of the winner race it in further heats, at most three, until it wins again. No heat begins
/// after the sum of makespans has exceeded `budget`, and a heat ends then. Each candidate runs once for warm-up and in
/// at least two rounds, whatever the budget. A timed run of less than 2 ms follows an untimed run of the same
/// candidate, so that the caches hold its data. Candidates that cannot be prepared are left out. Throws Error when no
/// candidate of `first_heat` can be prepared.
RaceResult race(const RaceField&, const MakeReady&, Seconds budget, const EliminationOptions& = {});

/// A copy of the `inout` and `carried` arrays of a job. Repeated runs of the kernel change them.
class Originals {
 public:
  /// Copies the arrays into memory of the host. Keeps a reference to the device.
  Originals(Device&, const Job&);
  /// Writes the saved values back into the job's arrays. Throws Error for an array on a GPU that is lost.
  void restore() const;
  /// As `restore`, after a failure: what failed then is not hidden by another error.
  void restore_after_failure() const noexcept;

 private:
  Device& device_;
  std::vector<std::pair<Array, Memory>> on_gpu_;
  std::vector<std::pair<std::byte*, std::vector<std::byte>>> kept_;
};

/// A race as files have it.
struct RaceView {
  std::string workload;  ///< the job with its parameters
  std::string device;    ///< id of the device
  RaceResult race;       ///< its outcome
};

/// Writes every finalist with its times.
Json to_json(const RaceResult&);
/// Reads what to_json wrote. Throws Error that names the key.
void from_json(const JsonReader&, RaceResult&);
Json json_schema(const RaceResult&);  ///< JSON Schema of what to_json writes
/// Writes the document `shiplap/race`.
Json to_json(const RaceView&);
/// Reads the document. Throws Error that names the key.
void from_json(const JsonReader&, RaceView&);
Json json_schema(const RaceView&);  ///< the JSON Schema of the document

}  // namespace shiplap
