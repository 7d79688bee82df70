// Messages between ranks by MPI, whose library is loaded when it is needed.
#pragma once

#include <memory>

#include "shiplap/fleet/communicator.hpp"

namespace shiplap::cli {

/// The ranks that an MPI's launcher has started.
class MpiCommunicator : public Communicator {
 public:
  /// Ends MPI when all ranks do so, and waits for them.
  virtual void end() = 0;
  virtual bool is_over() const = 0;  ///< whether `end` has ended MPI
  /// Ends all ranks at once, with this exit code, unless MPI has ended. Where a rank has died, `end` would wait for it.
  virtual void abort(int exit_code) = 0;
  /// Does not wait for other ranks when this is destroyed.
  virtual void leave() = 0;
};

/// Begins MPI. The destructor ends it, unless an exception is on its way. Throws Unsupported when this build has no
/// MPI, Error when MPI fails. MPI begins only when all ranks begin it: when that takes longer than `begin_within`, the
/// process says so and exits with ExitCode::failure.
std::unique_ptr<MpiCommunicator> mpi_communicator(Seconds begin_within);

}  // namespace shiplap::cli
