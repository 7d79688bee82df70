// The exceptions of shiplap and the exit code that each one stands for. main catches once; nothing else exits.
#pragma once

#include <stdexcept>
#include <string>

namespace shiplap {

/// Process exit codes of the command line.
enum class ExitCode : int { success = 0, failure = 1, check_failed = 2, usage = 64 };

/// This command cannot go on. The message names the thing and the remedy.
class Error : public std::runtime_error {
 public:
  /// `message` names the thing and the remedy.
  explicit Error(const std::string& message, ExitCode code = ExitCode::failure)
      : std::runtime_error(message), code_(code) {}
  /// What the program ends with when nobody catches it before main.
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// The caller asked for something that makes no sense: a bad flag, name or number. Exit code 64.
class UsageError : public Error {
 public:
  /// `message` names what was asked for, and what there is.
  explicit UsageError(const std::string& message) : Error(message, ExitCode::usage) {}
};

/// The work was done and a check of its result failed (verification, comparison). Exit code 2.
class CheckFailed : public Error {
 public:
  /// `message` says what was expected and what was found.
  explicit CheckFailed(const std::string& message) : Error(message, ExitCode::check_failed) {}
};

/// The caller had it stopped before its end.
class Cancelled : public Error {
 public:
  /// The message names where it was stopped.
  explicit Cancelled(const std::string& message) : Error(message) {}
};

/// The device, profile or build cannot do this. Callers that sweep report it as a skip with its reason.
class Unsupported : public Error {
 public:
  /// `message` says what is missing, and what would help.
  explicit Unsupported(const std::string& message) : Error(message) {}
};

}  // namespace shiplap
