#include "shiplap/core/host_limits.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "shiplap/core/kernel_file.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;

/// Version 1 writes the largest number of whole pages where it has no limit.
constexpr std::uint64_t no_memory_limit = std::uint64_t{1} << 60;

std::vector<std::string> words_of(std::string_view line, char separator) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(separator, at), line.size());
    words.emplace_back(line.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// The whole number at the begin of a text; nullopt where there is none, as in "max".
std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end != text.data() ? std::optional(value) : std::nullopt;
}

/// The number behind a key in lines of "key number".
std::uint64_t number_of(const std::string& text, std::string_view key) {
  for (const std::string& line : words_of(text, '\n'))
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ')
      if (const auto value = number_in(std::string_view(line).substr(key.size() + 1)); value && *value > 0)
        return static_cast<std::uint64_t>(*value);
  return 0;
}

/// A path in mountinfo, which has "\040" for a space, and so on for tabs, line breaks and backslashes.
std::string unescaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    unsigned code = 0;
    const bool escaped = text.front() == '\\' && text.size() >= 4 &&
                         std::from_chars(text.data() + 1, text.data() + 4, code, 8).ptr == text.data() + 4;
    out += escaped ? static_cast<char>(code) : text.front();
    text.remove_prefix(escaped ? 4 : 1);
  }
  return out;
}

/// Where a hierarchy of cgroups is mounted, and which of its folders is the top there.
struct Mount {
  fs::path point;
  std::string top;
};

/// The mount of version 2, or of a controller of version 1.
std::optional<Mount> mount_of(const std::string& mountinfo, const std::string& controller) {
  for (const std::string& line : words_of(mountinfo, '\n')) {
    // proc_pid_mountinfo(5): id, parent, device, root, mount point, options, …, "-", type, source, options
    const std::vector<std::string> words = words_of(line, ' ');
    const auto dash = std::ranges::find(words, "-");
    if (words.size() < 6 || words.end() - dash < 4) continue;
    const std::vector<std::string> options = words_of(*(dash + 3), ',');
    const bool is_it = controller.empty()
                           ? *(dash + 1) == "cgroup2"
                           : *(dash + 1) == "cgroup" && std::ranges::find(options, controller) != options.end();
    if (is_it) return Mount{unescaped(words[4]), unescaped(words[3])};
  }
  return std::nullopt;
}

/// The cgroup of this process in a hierarchy, from /proc/self/cgroup, whose lines are "number:controllers:path".
std::optional<std::string> group_in(const std::string& groups, const std::string& controller) {
  for (const std::string& line : words_of(groups, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::vector<std::string> controllers = words_of(line.substr(first + 1, second - first - 1), ',');
    if (std::ranges::find(controllers, controller) != controllers.end()) return line.substr(second + 1);
  }
  return std::nullopt;
}

/// The folders of the cgroup and of those around it, the innermost first.
std::vector<fs::path> folders_of(const fs::path& root, const Mount& mount, const std::string& group) {
  // In a container the top of the mount is the container's cgroup, and groups outside of it begin with "/..".
  fs::path below = group;
  if (mount.top != "/" && group.starts_with(mount.top)) below = group.substr(mount.top.size());
  below = below.relative_path();
  if (!below.empty() && *below.begin() == "..") below.clear();
  const fs::path top = root / mount.point.relative_path();
  std::vector<fs::path> folders;
  for (;; below = below.parent_path()) {
    folders.push_back(below.empty() ? top : top / below);
    if (below.empty()) return folders;
  }
}

void lower(std::optional<Bytes>& limit, Bytes to) {
  if (!limit || to < *limit) limit = to;
}

struct MemoryFiles {
  const char* most;
  const char* used;
  const char* file_cache;  ///< key in memory.stat of what the kernel gives up first
};

void limit_memory(CgroupLimits& limits, const fs::path& folder, const MemoryFiles& files) {
  const auto most = number_in(text_of_kernel_file(folder / files.most));
  if (!most || *most < 0 || static_cast<std::uint64_t>(*most) >= no_memory_limit) return;
  const Bytes limit{static_cast<std::uint64_t>(*most)};
  lower(limits.memory, limit);
  const auto used = number_in(text_of_kernel_file(folder / files.used));
  if (!used || *used < 0) return lower(limits.memory_left, limit);
  const std::uint64_t cache = number_of(text_of_kernel_file(folder / "memory.stat"), files.file_cache);
  const std::uint64_t held = static_cast<std::uint64_t>(*used) - std::min(static_cast<std::uint64_t>(*used), cache);
  lower(limits.memory_left, Bytes{limit.count - std::min(limit.count, held)});
}

void limit_cpus(CgroupLimits& limits, std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return;
  const double cpus = static_cast<double>(*quota) / static_cast<double>(*period);
  if (!limits.cpus || cpus < *limits.cpus) limits.cpus = cpus;
}

}  // namespace

CgroupLimits cgroup_limits(const fs::path& root) {
  const std::string groups = text_of_kernel_file(root / "proc/self/cgroup");
  const std::string mounts = text_of_kernel_file(root / "proc/self/mountinfo");
  const auto folders = [&](const std::string& controller) {
    const auto mount = mount_of(mounts, controller);
    const auto group = group_in(groups, controller);
    return mount && group ? folders_of(root, *mount, *group) : std::vector<fs::path>{};
  };
  CgroupLimits limits;
  for (const fs::path& folder : folders("")) {
    limit_memory(limits, folder, {"memory.max", "memory.current", "inactive_file"});
    const std::vector<std::string> cpu = words_of(text_of_kernel_file(folder / "cpu.max"), ' ');
    limit_cpus(limits, number_in(cpu.front()), number_in(cpu.back()));
  }
  for (const fs::path& folder : folders("memory"))
    limit_memory(limits, folder, {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"});
  for (const fs::path& folder : folders("cpu"))
    limit_cpus(limits, number_in(text_of_kernel_file(folder / "cpu.cfs_quota_us")),
               number_in(text_of_kernel_file(folder / "cpu.cfs_period_us")));
  return limits;
}

std::vector<unsigned> cpus_of_affinity() {
  constexpr unsigned bits = std::numeric_limits<unsigned long>::digits;
  std::vector<unsigned> numbers;
  // The kernel refuses masks that are smaller than its own.
  for (std::size_t cpus = 1024; numbers.empty() && cpus <= (std::size_t{1} << 20); cpus *= 2) {
    std::vector<unsigned long> mask(cpus / bits);
    if (sched_getaffinity(0, mask.size() * sizeof(unsigned long), reinterpret_cast<cpu_set_t*>(mask.data())) != 0)
      continue;
    for (unsigned cpu = 0; cpu < cpus; ++cpu)
      if ((mask[cpu / bits] >> cpu % bits & 1) != 0) numbers.push_back(cpu);
  }
  return numbers;
}

unsigned usable_cpus() {
  static const std::optional<double> of_cgroup = cgroup_limits().cpus;
  const std::size_t in_mask = cpus_of_affinity().size();
  const unsigned of_mask =
      in_mask > 0 ? static_cast<unsigned>(in_mask) : static_cast<unsigned>(std::max(1l, sysconf(_SC_NPROCESSORS_ONLN)));
  return of_cgroup ? std::clamp(static_cast<unsigned>(std::ceil(*of_cgroup)), 1u, of_mask) : of_mask;
}

std::optional<Bytes> address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  // proc_pid_statm(5): the first number is the size of the program in pages.
  const std::int64_t pages = number_in(text_of_kernel_file("/proc/self/statm")).value_or(0);
  const std::uint64_t used = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return Bytes{limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, used)};
}

}  // namespace shiplap
