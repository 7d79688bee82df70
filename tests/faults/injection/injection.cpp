#include "tests/faults/injection/injection.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace shiplap::faults {
namespace {

Shared* shared = nullptr;
std::atomic<bool> armed{false};
// The first use of a variable of another model may ask for memory.
[[gnu::tls_model("initial-exec")]] thread_local bool own = false;

struct Walk {
  std::array<void*, deepest_stack>* addresses;
  std::uint32_t depth;
  std::uint32_t left_out;  // frames of this library
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  if (walk.left_out > 0) {
    --walk.left_out;
    return _URC_NO_REASON;
  }
  if (walk.depth == deepest_stack) return _URC_END_OF_STACK;
  (*walk.addresses)[walk.depth++] = reinterpret_cast<void*>(_Unwind_GetIP(context));
  return _URC_NO_REASON;
}

std::uint32_t stack_here(std::array<void*, deepest_stack>& addresses) {
  constexpr std::uint32_t frames_of_library = 3;
  Walk walk{&addresses, 0, frames_of_library};
  _Unwind_Backtrace(step, &walk);
  return walk.depth;
}

void record_stack(std::uint64_t occurrence) {
  std::array<void*, deepest_stack> addresses{};
  const std::uint32_t depth = std::min(stack_here(addresses), shared->stack_depth);
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (std::uint32_t i = 0; i < depth; ++i)
    hash = (hash ^ reinterpret_cast<std::uintptr_t>(addresses[i])) * 0x100000001b3ull;
  hash = (hash ^ hash >> 29) | 1;
  for (std::uint64_t slot = hash % most_stacks, tried = 0; tried < most_stacks;
       slot = (slot + 1) % most_stacks, ++tried) {
    Stack& stack = shared->stacks[slot];
    std::uint64_t empty = 0;
    if (std::atomic_ref(stack.hash).compare_exchange_strong(empty, hash)) stack.occurrence = occurrence;
    if (empty == 0 || empty == hash) return;
  }
}

void copy_text(char* to, const char* from, std::size_t size) {
  std::strncpy(to, from == nullptr ? "" : from, size - 1);
  to[size - 1] = '\0';
}

void note_call(FileCall& call, const char* function, const char* path) {
  copy_text(call.function, function, sizeof call.function);
  copy_text(call.path, path, sizeof call.path);
}

std::uint32_t entries_of(const char* folder) {
  DIR* open = opendir(folder);
  std::uint32_t entries = 0;
  if (open == nullptr) return entries;
  while (const dirent* entry = readdir(open))
    if (entry->d_name[0] != '.') ++entries;
  closedir(open);
  return entries;
}

std::uint32_t threads_besides_this() {
  constexpr int looks = 200;
  constexpr unsigned pause_us = 5000;
  // The kernel lists a thread for a moment after it was joined.
  std::uint32_t threads = 0;
  for (int i = 0; i < looks && (threads = entries_of("/proc/self/task") - 1) > 0; ++i) usleep(pause_us);
  return threads;
}

using Main = int (*)(int, char**, char**);
Main program = nullptr;

int run_program(int argc, char** argv, char** variables) {
  const std::uint32_t descriptors = entries_of("/proc/self/fd");
  armed = shared != nullptr && shared->kind != Kind::none && !shared->program_begins;
  const int code = program(argc, argv, variables);
  armed = false;
  if (shared == nullptr) return code;
  const Own no_faults;
  shared->returned = true;
  shared->threads_left = threads_besides_this();
  const std::uint32_t now = entries_of("/proc/self/fd");
  shared->descriptors_left = now > descriptors ? now - descriptors : 0;
  return code;
}

void become_run() {
  alarm(shared->limit_seconds);
  const int out = open(shared->stdout_file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  const int err = open(shared->stderr_file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  close(out);
  close(err);
}

// Starts the program anew for every request, without loading it anew. Returns in the new processes alone.
void serve(int requests, int answers) {
  char byte = 0;
  while (read(requests, &byte, 1) == 1) {
    const pid_t run = fork();
    if (run == 0) {
      close(requests);
      close(answers);
      return become_run();
    }
    int status = -1;
    while (run > 0 && waitpid(run, &status, 0) < 0 && errno == EINTR) continue;
    shared->status = status;
    if (write(answers, &byte, 1) != 1) break;
  }
  _exit(0);
}

int descriptor_in(const char* variable) {
  const char* text = getenv(variable);
  return text == nullptr ? -1 : atoi(text);
}

void map_shared(const char* file) {
  const int descriptor = open(file, O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return;
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (memory != MAP_FAILED) shared = static_cast<Shared*>(memory);
}

int main_with_faults(int argc, char** argv, char** variables) {
  {
    const Own no_faults;
    const int requests = descriptor_in(requests_variable);
    const int answers = descriptor_in(answers_variable);
    if (const char* file = getenv(shared_variable)) map_shared(file);
    // Programs that this one starts have no faults.
    for (const char* variable : {shared_variable, requests_variable, answers_variable}) unsetenv(variable);
    if (shared != nullptr && requests >= 0 && answers >= 0) serve(requests, answers);
  }
  return run_program(argc, argv, variables);
}

}  // namespace

Own::Own() : before_(own) { own = true; }
Own::~Own() { own = before_; }

Decision next_call(Kind kind, const char* function, const char* path) {
  if (!armed.load(std::memory_order_relaxed) || own || shared->kind != kind) return {};
  const Own no_faults;
  const std::uint64_t occurrence = ++shared->calls;
  if (shared->record && kind == Kind::memory) record_stack(occurrence);
  if (shared->record && kind != Kind::memory && occurrence <= most_calls)
    note_call(shared->file_calls[occurrence - 1], function, path);
  const bool fails = shared->occurrence != 0 &&
                     (occurrence == shared->occurrence || (shared->lasting && occurrence > shared->occurrence));
  if (!fails) return {};
  if (shared->failed++ == 0) {
    note_call(shared->failed_call, function, path);
    shared->depth = stack_here(shared->addresses);
  }
  return {.fails = true, .error = shared->error};
}

void* function_behind(const char* name) {
  const Own no_faults;
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) abort();
  return found;
}

}  // namespace shiplap::faults

extern "C" {

/// For programs that say themselves when faults begin (`Shared::program_begins`).
[[gnu::visibility("default")]] void shiplap_faults_begin() {
  using namespace shiplap::faults;
  armed = shared != nullptr && shared->kind != Kind::none;
}

using StartMain = int (*)(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);

[[gnu::visibility("default")]] int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv,
                                                     void (*init)(), void (*fini)(), void (*rtld_fini)(), void* stack) {
  using namespace shiplap::faults;
  program = main;
  const auto start = reinterpret_cast<StartMain>(function_behind("__libc_start_main"));
  return start(main_with_faults, argc, argv, init, fini, rtld_fini, stack);
}
}
