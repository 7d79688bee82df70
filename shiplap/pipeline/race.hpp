// Runs the best candidates of a plan against each other, and keeps the one that turns out to be the fastest.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shiplap/core/json.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/plan/elimination.hpp"
#include "shiplap/plan/plan.hpp"

namespace shiplap {

/// What took part in a race.
struct Finalist {
  Choice choice;                  ///< what was done
  Interval<Seconds> predicted;    ///< of it, by the plan
  std::vector<double> seconds{};  ///< observed makespans, a round each, until it was dropped
  bool dropped = false;           ///< surely slower than the winner
  std::string not_run{};          ///< why it could not be made ready, else ""
};

/// What a race found.
struct RaceResult {
  std::vector<Finalist> finalists;  ///< the plan's first choice in front
  std::size_t winner = 0;           ///< of them
  unsigned rounds = 0;              ///< that were run
  Seconds ran{0};                   ///< makespans of all runs together
  Seconds took{0};                  ///< by the host's clock, with making ready
  bool kept = false;                ///< found on an earlier occasion (race_store.hpp)
  std::string note{};               ///< for people: why a kept winner was not taken, where the winner is kept

  const Finalist& best() const { return finalists[winner]; }  ///< the winner
  /// One sentence: who won, of how many, and what the plan's first choice took.
  std::string to_string() const;
};

/// What is to run for a job: the plan's first choice, then the best of every other strategy that is predicted within
/// half as much again as the best, and of those that only copy in any case; then what is near the first three in turn:
/// a graph of it, other numbers of chunks, other queues, grids and threads, as far as the options, those of the plan,
/// leave them open. At most `most`.
std::vector<Candidate> finalists_of(const Job&, const Profile&, const Plan&, const Limits&, const PlanOptions& = {},
                                    std::size_t most = 12);

/// How a race makes a choice ready to run.
using MakeReady = std::function<Prepared(const Choice&)>;

/// Runs the finalists in turn (see Elimination) until one is left or `budget` of their makespans is spent: each once
/// for first use and in two rounds at least, those of less than 2 ms each time behind an untimed run of their own.
/// Whatever cannot be made ready is left out. Throws Error when nothing can.
RaceResult race(const std::vector<Candidate>& finalists, const MakeReady&, Seconds budget,
                const EliminationOptions& = {});

/// Copies of the arrays that a job reads and writes again; they are put back when this goes. For races on data that
/// are still wanted as they are.
class Originals {
 public:
  /// Copies them.
  explicit Originals(const Job&);
  Originals(const Originals&) = delete;
  Originals& operator=(const Originals&) = delete;
  ~Originals();

 private:
  std::vector<std::pair<std::byte*, std::vector<std::byte>>> kept_;
};

/// Every finalist with its times.
Json to_json(const RaceResult&);
/// What to_json wrote. Throws Error that names the key.
RaceResult race_from_json(const JsonReader&);

}  // namespace shiplap
