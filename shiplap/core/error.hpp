// The exceptions of shiplap and the exit code of each. `main` catches them; nothing else ends the process.
#pragma once

#include <stdexcept>
#include <string>

namespace shiplap {

/// Exit codes of the program.
enum class ExitCode : int { success = 0, failure = 1, check_failed = 2, usage = 64 };

/// The operation cannot continue. The message names the cause and the remedy.
class Error : public std::runtime_error {
 public:
  /// `message` names the cause and the remedy.
  explicit Error(const std::string& message, ExitCode code = ExitCode::failure)
      : std::runtime_error(message), code_(code) {}
  /// Exit code of the program when the error reaches `main`.
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// The caller passed an invalid flag, name or number. Exit code 64.
class UsageError : public Error {
 public:
  /// `message` names the invalid value and the valid ones.
  explicit UsageError(const std::string& message) : Error(message, ExitCode::usage) {}
};

/// The work was done, but a check of its result (verification, comparison) failed. Exit code 2.
class CheckFailed : public Error {
 public:
  /// `message` names the expected and the actual result.
  explicit CheckFailed(const std::string& message) : Error(message, ExitCode::check_failed) {}
};

/// The caller stopped the operation before its end.
class Cancelled : public Error {
 public:
  /// `message` names the point at which the operation was stopped.
  explicit Cancelled(const std::string& message) : Error(message) {}
};

/// A run did not end within its time limit. The GPU may still work on it.
class TimedOut : public Error {
 public:
  /// `message` names the limit and what was waited for.
  explicit TimedOut(const std::string& message) : Error(message) {}
};

/// The device, profile or build cannot do this. Sweeps report such points as skipped, with the reason.
class Unsupported : public Error {
 public:
  /// `message` names what is missing and the remedy.
  explicit Unsupported(const std::string& message) : Error(message) {}
};

}  // namespace shiplap
