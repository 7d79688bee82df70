// The part of every rank in the check of a fleet: it reports which GPUs it sees, and does what rank 0 asks.
#pragma once

#include <functional>
#include <string>

#include "shiplap/fleet/communicator.hpp"
#include "shiplap/fleet/rank_message.hpp"

namespace shiplap {

/// What a rank can do. The functions return documents `shiplap/check` and throw Error when something cannot be done, of
/// which rank 0 is told. Several threads may call them at once.
struct RankWork {
  std::string node;     ///< name of the host
  std::string program;  ///< version of the program
  /// The GPUs that this rank sees.
  std::function<std::vector<RankDevice>()> devices;
  /// Checks a GPU. The function returns in time even when the GPU hangs.
  std::function<Json(const std::string& device)> check;
  /// Copies with a GPU, from `begin` on (time since 1970).
  std::function<Json(const std::string& device, Seconds begin)> copy_at_once;
  /// Returns whether this rank is to end; empty: it never is.
  std::function<bool()> stop{};
};

/// Reports the GPUs of this rank and follows orders until there are no more. Returns whether all ranks have answered,
/// so that they can end together; false also when `stop` says so. Throws Error when rank 0 is silent for longer than
/// `longest_silence`, which means that it has died.
bool run_worker(Communicator&, const RankWork&, Seconds longest_silence);

}  // namespace shiplap
