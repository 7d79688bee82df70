// The functions of the C library that give memory. Those of C++ and of other libraries call them.
#include <sys/mman.h>
#include <sys/types.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "tests/faults/injection/injection.hpp"

using shiplap::faults::function_behind;
using shiplap::faults::Kind;
using shiplap::faults::next_call;

namespace {

std::atomic<long> live_blocks{0};

/// Counts a block that is given.
void* given(void* block) {
  if (block != nullptr) live_blocks.fetch_add(1, std::memory_order_relaxed);
  return block;
}

bool has_no_memory() {
  if (!next_call(Kind::memory, nullptr, nullptr).fails) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

extern "C" {

// dlsym asks for memory, so that these are found by their second names.
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

#pragma GCC visibility push(default)

void* malloc(std::size_t size) { return has_no_memory() ? nullptr : given(__libc_malloc(size)); }

void* calloc(std::size_t count, std::size_t size) {
  return has_no_memory() ? nullptr : given(__libc_calloc(count, size));
}

void* realloc(void* old, std::size_t size) {
  if (has_no_memory()) return nullptr;
  if (old == nullptr) return given(__libc_malloc(size));
  if (size == 0) live_blocks.fetch_sub(1, std::memory_order_relaxed);
  return __libc_realloc(old, size);
}

void free(void* block) {
  if (block != nullptr) live_blocks.fetch_sub(1, std::memory_order_relaxed);
  __libc_free(block);
}

long shiplap_faults_live_blocks() { return live_blocks; }

void* memalign(std::size_t alignment, std::size_t size) {
  return has_no_memory() ? nullptr : given(__libc_memalign(alignment, size));
}

void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  if (has_no_memory()) return ENOMEM;
  *memory = given(__libc_memalign(alignment, size));
  return *memory == nullptr ? ENOMEM : 0;
}

void* mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset) noexcept {
  static const auto behind = reinterpret_cast<decltype(&mmap)>(function_behind("mmap"));
  return has_no_memory() ? MAP_FAILED : behind(at, size, protection, flags, file, offset);
}

#pragma GCC visibility pop
}
