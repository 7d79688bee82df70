// Goes on in a child process, so that a time limit holds even while a call into a driver hangs.
#pragma once

#include <string_view>

#include "shiplap/core/deadline.hpp"

namespace shiplap::cli {

/// What the parent knows about the work of its child. It says where the child was when time ran out.
class ChildProgress {
 public:
  /// Throws Error when the system gives no shared memory.
  ChildProgress();
  ~ChildProgress();
  ChildProgress(const ChildProgress&) = delete;
  ChildProgress& operator=(const ChildProgress&) = delete;

  /// Says what is done now; texts of more than 200 bytes are cut.
  void now(std::string_view step);
  std::string_view step() const;

 private:
  char* shared_ = nullptr;
};

/// Forks, and returns in the child. The parent passes on what the child prints and throws: CLI::RuntimeError with the
/// exit code of the child; Error when a signal ended the child, or when it has not ended by the deadline. It then
/// leaves the child behind, killed: a process in a call that hangs in the kernel dies only when the call returns. What
/// the child printed on stdout is discarded, so that the parent can say something else.
///
/// The child is killed with its parent. It must be called before the process has threads.
void continue_in_child(const ChildProgress&, const Deadline&);

}  // namespace shiplap::cli
