// The part of rank 0 in the check of a fleet: it collects what all ranks report, has outliers checked again, and says
// which ranks did not answer.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/fleet/communicator.hpp"
#include "shiplap/fleet/judge.hpp"
#include "shiplap/measure/node_result.hpp"

namespace shiplap {

struct CoordinatorOptions {
  Seconds begin_within{60};  ///< a rank that has not reported by then is not waited for
  Seconds budget{60};        ///< longest time of the check of a GPU; a rank that needs longer is not waited for
  Seconds grace{10};         ///< time that a rank may take beyond its budgets, for starting programs and messages
  unsigned repeats = 1;      ///< number of times that a GPU which is not good is checked again
  bool at_once = false;      ///< whether the GPUs of a node also copy at once
  std::string program{};     ///< version of the program of rank 0; others are reported
  JudgeOptions judging{};    ///< when a GPU is an outlier, which is then checked again
  const History* history = nullptr;  ///< earlier figures of the nodes; null: none
  /// Progress callback: a text that says what the check waits for.
  std::function<void(std::string_view)> progress{};
  /// Returns whether to wait for nobody any more, so that what has been reported is judged. Empty: it never is.
  std::function<bool()> stop{};
};

/// What all ranks have reported.
struct FleetRun {
  std::vector<NodeResult> results{};   ///< every check that was done
  std::vector<std::string> missing{};  ///< ranks that did not answer in time, with what is known of them
  std::vector<std::string> failed{};   ///< checks that could not be done, and why
};

/// Gives each GPU that ranks see to one of them, collects from all ranks, each of which calls `work`, and ends them. A
/// rank that dies or hangs is reported in time, and the rest is collected. The time grows linearly with the number of
/// ranks. Throws Error when the connection of this rank is broken. The other ranks do not know it then: call
/// `end_all_ranks`.
FleetRun coordinate(Communicator&, const CoordinatorOptions&);

/// Tells all ranks to end, rank 0 first, when rank 0 cannot go on. Ranks that cannot be reached are left out, and those
/// that were not told by the deadline.
void end_all_ranks(Communicator&, const Deadline&);

}  // namespace shiplap
