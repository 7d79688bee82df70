#include "cli/child_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>

#include "cli/output.hpp"
#include "cli/pipe.hpp"
#include "shiplap/core/error.hpp"

namespace shiplap::cli {
namespace {

constexpr std::size_t step_bytes = 256;
constexpr std::size_t longest_step = 200;
/// Time between two looks at the child.
constexpr int look_ms = 10;

[[noreturn]] void cannot(const char* call) {
  throw Error(fmt::format("cannot limit the time of this command: {} failed: {}", call,
                          std::generic_category().message(errno)));
}

/// One output of the child. On a terminal the child writes by itself. Otherwise it gets a pipe, because whoever reads
/// the output would wait for a child that cannot die.
class ChildOutput {
 public:
  ChildOutput(int descriptor, bool kept) : descriptor_(descriptor), kept_(kept) {
    if (isatty(descriptor) == 0) pipe_.emplace();
  }

  void use_in_child() {
    if (pipe_) dup2(pipe_->write_end(), descriptor_);
    pipe_.reset();
  }
  void use_in_parent() {
    if (pipe_) pipe_->close_write_end();
  }
  pollfd wait_for() const { return pipe_ ? pipe_->wait_for() : pollfd{.fd = -1, .events = POLLIN, .revents = 0}; }

  /// Takes what the child has written so far.
  void take() {
    if (pipe_) pipe_->take(text_);
    if (!kept_) pass_on();
  }
  void pass_on() {
    if (descriptor_ == STDOUT_FILENO)
      print_verbatim(text_);
    else
      print_error(text_);
    text_.clear();
  }

 private:
  int descriptor_;
  bool kept_;  ///< what was taken waits for `pass_on`
  std::optional<Pipe> pipe_;
  std::string text_;
};

/// The status of the child when it has ended.
std::optional<int> ended(pid_t child) {
  int status = 0;
  const pid_t found = waitpid(child, &status, WNOHANG);
  if (found < 0 && errno != EINTR) cannot("waitpid");
  return found == child ? std::optional(status) : std::nullopt;
}

/// The status of the child, or nullopt when the deadline passes first.
std::optional<int> status_by(const Deadline& deadline, pid_t child, ChildOutput& out, ChildOutput& err) {
  while (!deadline.passed()) {
    const double left_ms = in_milliseconds(deadline.left());
    std::array<pollfd, 2> waited{out.wait_for(), err.wait_for()};
    poll(waited.data(), waited.size(), std::max(1, static_cast<int>(std::min<double>(left_ms, look_ms))));
    const std::optional<int> status = ended(child);
    out.take();
    err.take();
    if (status) return status;
  }
  return std::nullopt;
}

}  // namespace

ChildProgress::ChildProgress() {
  void* memory = mmap(nullptr, step_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) cannot("mmap");
  shared_ = static_cast<char*>(memory);
}

ChildProgress::~ChildProgress() { munmap(shared_, step_bytes); }

void ChildProgress::now(std::string_view step) {
  const std::size_t length = std::min(step.size(), longest_step);
  std::memcpy(shared_, step.data(), length);
  shared_[length] = 0;
}

std::string_view ChildProgress::step() const { return {shared_, strnlen(shared_, step_bytes)}; }

void continue_in_child(const ChildProgress& progress, const Deadline& deadline) {
  ChildOutput out(STDOUT_FILENO, true);
  ChildOutput err(STDERR_FILENO, false);
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) cannot("fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(static_cast<int>(ExitCode::failure));  // the parent has died meanwhile
    out.use_in_child();
    err.use_in_child();
    return;
  }
  out.use_in_parent();
  err.use_in_parent();
  const std::optional<int> status = status_by(deadline, child, out, err);
  if (!status) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, WNOHANG);
    throw Error(
        fmt::format("nothing answered within the budget (while {}); look for a driver or a GPU that hangs, or "
                    "give a larger --budget",
                    progress.step()));
  }
  if (WIFSIGNALED(*status))
    throw Error(fmt::format("signal {} ({}) ended the check (while {})", WTERMSIG(*status),
                            strsignal(WTERMSIG(*status)), progress.step()));
  out.pass_on();
  throw CLI::RuntimeError(WEXITSTATUS(*status));
}

}  // namespace shiplap::cli
