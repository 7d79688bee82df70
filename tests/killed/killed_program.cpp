#include "tests/killed/killed_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <system_error>

#include "shiplap/core/deadline.hpp"

namespace shiplap {
namespace {

[[noreturn]] void cannot_trace(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

[[noreturn]] void become_program(const ProgramRun& run) {
  setenv("XDG_CACHE_HOME", run.cache.c_str(), 1);
  const int nothing = open("/dev/null", O_RDWR);
  const int messages = open(run.messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(messages, STDERR_FILENO);
  if (chdir(run.folder.c_str()) != 0) _exit(127);
  std::vector<char*> words;
  for (const std::string& word : run.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(words.front(), words.data());
  _exit(127);
}

ProgramEnd end_of(int status) {
  if (WIFSIGNALED(status)) return {.was_killed = WTERMSIG(status) == SIGKILL, .code = 128 + WTERMSIG(status)};
  return {.code = WEXITSTATUS(status)};
}

constexpr std::array changing_calls{
    SYS_fsync,    SYS_fdatasync, SYS_ftruncate, SYS_renameat2, SYS_unlinkat,        SYS_mkdirat,
    SYS_linkat,   SYS_symlinkat, SYS_fchmod,    SYS_flock,     SYS_copy_file_range, SYS_sendfile,
#ifdef SYS_rename
    SYS_rename,   SYS_unlink,    SYS_mkdir,     SYS_rmdir,     SYS_creat,
#endif
#ifdef SYS_renameat
    SYS_renameat,
#endif
};

bool changes_files(const __ptrace_syscall_info& call) {
  const auto number = static_cast<long>(call.entry.nr);
  const auto opens_to_write = [&](std::size_t flags) { return (call.entry.args[flags] & (O_WRONLY | O_RDWR)) != 0; };
#ifdef SYS_open
  if (number == SYS_open) return opens_to_write(1);
#endif
  if (number == SYS_openat) return opens_to_write(2);
  if (number == SYS_write || number == SYS_writev) return call.entry.args[0] > STDERR_FILENO;
  return std::ranges::find(changing_calls, number) != changing_calls.end();
}

/// A traced process, stopped before its program begins.
int start_traced(const ProgramRun& run) {
  const pid_t process = fork();
  if (process < 0) cannot_trace("fork");
  if (process == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(126);
    raise(SIGSTOP);
    become_program(run);
  }
  int status = 0;
  waitpid(process, &status, 0);
  if (!WIFSTOPPED(status)) cannot_trace("PTRACE_TRACEME");
  if (ptrace(PTRACE_SETOPTIONS, process, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD) != 0)
    cannot_trace("PTRACE_SETOPTIONS");
  return process;
}

/// Whether the stopped process is about to make a call that changes files.
bool is_at_change(int process) {
  __ptrace_syscall_info call{};
  if (ptrace(PTRACE_GET_SYSCALL_INFO, process, sizeof(call), &call) < 0) cannot_trace("PTRACE_GET_SYSCALL_INFO");
  return call.op == PTRACE_SYSCALL_INFO_ENTRY && changes_files(call);
}

}  // namespace

int start_program(const ProgramRun& run) {
  const pid_t process = fork();
  if (process == 0) become_program(run);
  return process;
}

ProgramEnd wait_for_program(int process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return end_of(status);
}

ProgramEnd run_program_to_its_end(const ProgramRun& run) { return wait_for_program(start_program(run)); }

ProgramEnd kill_program_after(const ProgramRun& run, Seconds time) {
  const int process = start_program(run);
  sleep_for(time);
  kill(process, SIGKILL);
  return wait_for_program(process);
}

ProgramEnd kill_program_at_call(const ProgramRun& run, std::size_t call) {
  const int process = start_traced(run);
  std::size_t calls = 0;
  for (int signal = 0;;) {
    // A process that has been killed may have gone already.
    if (ptrace(PTRACE_SYSCALL, process, nullptr, signal) != 0 && errno != ESRCH) cannot_trace("PTRACE_SYSCALL");
    int status = 0;
    waitpid(process, &status, 0);
    if (!WIFSTOPPED(status)) {
      ProgramEnd end = end_of(status);
      end.calls = calls;
      return end;
    }
    constexpr int at_call = SIGTRAP | 0x80;
    const bool is_of_tracing = WSTOPSIG(status) == at_call || WSTOPSIG(status) == SIGTRAP;
    signal = is_of_tracing ? 0 : WSTOPSIG(status);
    if (WSTOPSIG(status) != at_call || !is_at_change(process)) continue;
    if (calls == call) kill(process, SIGKILL);
    ++calls;
  }
}

}  // namespace shiplap
