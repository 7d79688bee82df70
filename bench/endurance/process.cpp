#include "bench/endurance/process.hpp"

#include <malloc.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace endurance {
namespace {

std::uint64_t entries(const char* folder) {
  return static_cast<std::uint64_t>(
      std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

}  // namespace

double processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Holdings holdings() {
  const struct mallinfo2 heap = mallinfo2();
  std::uint64_t pages = 0;
  std::uint64_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return {.heap = heap.uordblks + heap.hblkhd,
          .descriptors = entries("/proc/self/fd"),
          .threads = entries("/proc/self/task"),
          .resident = resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))};
}

}  // namespace endurance
