// The functions of the C library on files and folders. The C library itself calls others that cannot be replaced, so
// that what it writes for streams of C (stdout) is not counted.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "tests/faults/injection/injection.hpp"

using shiplap::faults::Decision;
using shiplap::faults::function_behind;
using shiplap::faults::Kind;
using shiplap::faults::next_call;

namespace {

/// Whether the call fails, with errno set.
bool fails(const char* function, const char* path) {
  const Decision now = next_call(Kind::file, function, path);
  if (now.fails) errno = now.error;
  return now.fails;
}

}  // namespace

// A function `name` that fails with `failure`, or calls the function of its name behind this library.
#define FAILING(type, name, parameters, path, failure, ...)                                  \
  [[gnu::visibility("default")]] type name parameters {                                      \
    static const auto behind = reinterpret_cast<type(*) parameters>(function_behind(#name)); \
    return fails(#name, path) ? failure : behind(__VA_ARGS__);                               \
  }

// As above, with a mode when a file may be created.
#define OPENING(name, parameters, path, ...)                                                \
  [[gnu::visibility("default")]] int name parameters {                                      \
    static const auto behind = reinterpret_cast<int(*) parameters>(function_behind(#name)); \
    mode_t mode = 0;                                                                        \
    if ((flags & O_CREAT) != 0) {                                                           \
      va_list more;                                                                         \
      va_start(more, flags);                                                                \
      mode = va_arg(more, mode_t);                                                          \
      va_end(more);                                                                         \
    }                                                                                       \
    return fails(#name, path) ? -1 : behind(__VA_ARGS__);                                   \
  }

extern "C" {

OPENING(open, (const char* path, int flags, ...), path, path, flags, mode)
OPENING(open64, (const char* path, int flags, ...), path, path, flags, mode)
OPENING(openat, (int folder, const char* path, int flags, ...), path, folder, path, flags, mode)
FAILING(FILE*, fopen, (const char* path, const char* mode), path, nullptr, path, mode)
FAILING(FILE*, fopen64, (const char* path, const char* mode), path, nullptr, path, mode)
FAILING(int, mkstemp, (char* path), path, -1, path)
FAILING(char*, mkdtemp, (char* path) noexcept, path, nullptr, path)
FAILING(ssize_t, read, (int file, void* to, std::size_t size), nullptr, -1, file, to, size)
FAILING(std::size_t, fread, (void* to, std::size_t size, std::size_t count, FILE* file), nullptr, 0, to, size, count,
        file)
FAILING(ssize_t, pread64, (int file, void* to, std::size_t size, off64_t at), nullptr, -1, file, to, size, at)
FAILING(int, fsync, (int file), nullptr, -1, file)
FAILING(int, fdatasync, (int file), nullptr, -1, file)
FAILING(int, rename, (const char* from, const char* to) noexcept, to, -1, from, to)
FAILING(int, mkdir, (const char* path, mode_t mode) noexcept, path, -1, path, mode)
FAILING(int, unlink, (const char* path) noexcept, path, -1, path)
FAILING(int, unlinkat, (int folder, const char* path, int flags) noexcept, path, -1, folder, path, flags)
FAILING(int, rmdir, (const char* path) noexcept, path, -1, path)
FAILING(int, remove, (const char* path) noexcept, path, -1, path)
FAILING(int, stat, (const char* path, struct stat* to) noexcept, path, -1, path, to)
FAILING(int, stat64, (const char* path, struct stat64* to) noexcept, path, -1, path, to)
FAILING(int, lstat, (const char* path, struct stat* to) noexcept, path, -1, path, to)
FAILING(int, fstat, (int file, struct stat* to) noexcept, nullptr, -1, file, to)
FAILING(int, fstat64, (int file, struct stat64* to) noexcept, nullptr, -1, file, to)
FAILING(int, fstatat, (int folder, const char* path, struct stat* to, int flags) noexcept, path, -1, folder, path, to,
        flags)
FAILING(int, flock, (int file, int operation) noexcept, nullptr, -1, file, operation)
FAILING(int, fchmod, (int file, mode_t mode) noexcept, nullptr, -1, file, mode)
FAILING(DIR*, opendir, (const char* path), path, nullptr, path)
FAILING(DIR*, fdopendir, (int file), nullptr, nullptr, file)
FAILING(dirent*, readdir, (DIR * folder), nullptr, nullptr, folder)
FAILING(ssize_t, readlink, (const char* path, char* to, std::size_t size) noexcept, path, -1, path, to, size)
FAILING(char*, realpath, (const char* path, char* to) noexcept, path, nullptr, path, to)

#pragma GCC visibility push(default)

ssize_t write(int file, const void* from, std::size_t size) {
  static const auto behind = reinterpret_cast<decltype(&write)>(function_behind("write"));
  const Decision now = next_call(Kind::file, "write", nullptr);
  if (!now.fails) return behind(file, from, size);
  if (now.error == 0) return behind(file, from, (size + 1) / 2);
  errno = now.error;
  return -1;
}

ssize_t writev(int file, const iovec* parts, int count) {
  static const auto behind = reinterpret_cast<decltype(&writev)>(function_behind("writev"));
  const Decision now = next_call(Kind::file, "write", nullptr);
  if (!now.fails) return behind(file, parts, count);
  if (now.error == 0) return write(file, parts[0].iov_base, (parts[0].iov_len + 1) / 2);
  errno = now.error;
  return -1;
}

// Linux closes a file even where it reports an error.
int close(int file) {
  static const auto behind = reinterpret_cast<decltype(&close)>(function_behind("close"));
  const Decision now = next_call(Kind::file, "close", nullptr);
  const int result = behind(file);
  if (!now.fails) return result;
  errno = now.error;
  return -1;
}

int fclose(FILE* file) {
  static const auto behind = reinterpret_cast<decltype(&fclose)>(function_behind("fclose"));
  const Decision now = next_call(Kind::file, "close", nullptr);
  const int result = behind(file);
  if (!now.fails) return result;
  errno = now.error;
  return EOF;
}

#pragma GCC visibility pop
}
