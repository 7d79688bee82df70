// The functions that start threads and processes.
#include <pthread.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>

#include "tests/faults/injection/injection.hpp"

using shiplap::faults::Decision;
using shiplap::faults::function_behind;
using shiplap::faults::Kind;
using shiplap::faults::next_call;

#define FUNCTION_BEHIND(name) reinterpret_cast<decltype(&name)>(function_behind(#name))

extern "C" {
#pragma GCC visibility push(default)

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  static const auto behind = FUNCTION_BEHIND(pthread_create);
  const Decision now = next_call(Kind::thread, "pthread_create", nullptr);
  return now.fails ? now.error : behind(thread, attributes, start, argument);
}

pid_t fork() noexcept {
  static const auto behind = FUNCTION_BEHIND(fork);
  const Decision now = next_call(Kind::process, "fork", nullptr);
  if (!now.fails) return behind();
  errno = now.error;
  return -1;
}

int pipe2(int ends[2], int flags) noexcept {
  static const auto behind = FUNCTION_BEHIND(pipe2);
  const Decision now = next_call(Kind::process, "pipe2", nullptr);
  if (!now.fails) return behind(ends, flags);
  errno = now.error;
  return -1;
}

int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const argv[], char* const variables[]) {
  static const auto behind = FUNCTION_BEHIND(posix_spawn);
  const Decision now = next_call(Kind::process, "posix_spawn", path);
  return now.fails ? now.error : behind(process, path, actions, attributes, argv, variables);
}

int posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const argv[], char* const variables[]) {
  static const auto behind = FUNCTION_BEHIND(posix_spawnp);
  const Decision now = next_call(Kind::process, "posix_spawnp", file);
  return now.fails ? now.error : behind(process, file, actions, attributes, argv, variables);
}

#pragma GCC visibility pop
}
