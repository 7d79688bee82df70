#include "shiplap/profile/topology.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/host_limits.hpp"

namespace shiplap {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;

[[noreturn]] void fail(const char* call) {
  throw Error(fmt::format("cannot examine the host: {} failed: {}", call, std::generic_category().message(errno)));
}

Topology load_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) fail("hwloc_topology_init");
  Topology topology(raw);
  if (hwloc_topology_load(raw) != 0) fail("hwloc_topology_load");
  return topology;
}

std::string reported(const char* text) { return text != nullptr && *text != '\0' ? text : unknown_fact; }

std::string first_word(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string word;
  return file >> word ? word : unknown_fact;
}

/// Numbers in increasing order, with ranges: "0-7,16".
std::string with_ranges(const std::vector<unsigned>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[i]);
    if (last > i) text += fmt::format("-{}", numbers[last]);
    i = last;
  }
  return text;
}

/// "on" or "off": whether the frequency driver lets cores run above their base clock.
std::string turbo() {
  const std::string no_turbo = first_word("/sys/devices/system/cpu/intel_pstate/no_turbo");
  if (no_turbo != unknown_fact) return no_turbo == "0" ? "on" : "off";
  const std::string boost = first_word("/sys/devices/system/cpu/cpufreq/boost");
  return boost == unknown_fact ? boost : boost == "1" ? "on" : "off";
}

/// How many groups of devices the IOMMU translates; "none" without an IOMMU. It does not translate groups of type
/// "identity".
std::string iommu() {
  using Entries = std::filesystem::directory_iterator;
  std::error_code error;
  std::size_t count = 0;
  for (Entries entry("/sys/class/iommu", error); !error && entry != Entries(); entry.increment(error)) ++count;
  if (error) return unknown_fact;
  if (count == 0) return "none";
  std::size_t groups = 0;
  std::size_t passed = 0;
  for (Entries group("/sys/kernel/iommu_groups", error); !error && group != Entries(); group.increment(error)) {
    ++groups;
    passed += first_word(group->path() / "type") == "identity" ? 1 : 0;
  }
  if (groups == 0) return fmt::format("{}, unknown whether they translate", count);
  return passed == groups ? fmt::format("pass-through ({})", count)
                          : fmt::format("translating for {} of {} groups of devices", groups - passed, groups);
}

/// "yes" when the processor flags name a hypervisor (x86), otherwise "no". A hypervisor can hide the flag.
std::string hypervisor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("flags")) return (line + " ").find(" hypervisor ") != std::string::npos ? "yes" : "no";
  return unknown_fact;
}

std::string cpu_model(hwloc_topology_t topology) {
  const hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
  const hwloc_obj_t described = package != nullptr ? package : hwloc_get_root_obj(topology);
  return reported(hwloc_obj_get_info_by_name(described, "CPUModel"));
}

/// The memory that the cgroups of this process allow.
std::string memory_limit() {
  const auto limit = cgroup_limits().memory;
  return limit ? to_string(*limit) : "none";
}

/// hwloc returns 0 when the number is unknown, and −1 when objects of the type are on several levels of the topology.
std::string count_of(hwloc_topology_t topology, hwloc_obj_type_t type) {
  const int count = hwloc_get_nbobjs_by_type(topology, type);
  return count > 0 ? std::to_string(count) : unknown_fact;
}

/// The active setting of transparent huge pages, which the file has in brackets: "always [madvise] never". A process
/// can be without them whatever the setting, because it inherits that from what started it.
std::string huge_pages() {
  if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1) return "never in this process";
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string word;
  while (file >> word)
    if (word.size() > 2 && word.front() == '[' && word.back() == ']') return word.substr(1, word.size() - 2);
  return unknown_fact;
}

/// How memory gets to a NUMA node. Containers forbid memory policies by default; then it is where it is first touched.
std::string numa_placement(hwloc_topology_t topology) {
  if (hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE) <= 1) return "one node";
  hwloc_membind_policy_t policy{};
  const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> nodes(hwloc_bitmap_alloc(), hwloc_bitmap_free);
  const int flags = HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET;
  const bool allowed = nodes != nullptr && hwloc_get_membind(topology, nodes.get(), &policy, flags) == 0;
  return allowed ? "memory policies" : "first touch (the system forbids memory policies)";
}

}  // namespace

Conditions host_facts() {
  const Topology topology = load_topology();
  utsname system{};
  if (uname(&system) != 0) fail("uname");
  const long page = sysconf(_SC_PAGESIZE);
  // The sum of hwloc over the NUMA nodes can be too small on virtual machines to which memory was added at run time.
  const long pages = sysconf(_SC_PHYS_PAGES);
  if (page <= 0 || pages <= 0) fail("sysconf");
  const Bytes page_size{static_cast<std::uint64_t>(page)};

  return {{"host.cpu", cpu_model(topology.get())},
          {"host.packages", count_of(topology.get(), HWLOC_OBJ_PACKAGE)},
          {"host.cores", count_of(topology.get(), HWLOC_OBJ_CORE)},
          {"host.hardware_threads", count_of(topology.get(), HWLOC_OBJ_PU)},
          {"host.numa_nodes", count_of(topology.get(), HWLOC_OBJ_NUMANODE)},
          {"host.numa_placement", numa_placement(topology.get())},
          {"host.memory", to_string(page_size * static_cast<std::uint64_t>(pages))},
          {"host.usable_threads", std::to_string(usable_cpus())},
          {"host.memory_limit", memory_limit()},
          {"host.page_size", to_string(page_size)},
          {"host.huge_pages", huge_pages()},
          {"host.governor", governors_of(cpus_of_affinity())},
          {"host.turbo", turbo()},
          {"host.iommu", iommu()},
          {"host.hypervisor", hypervisor()},
          {"host.kernel", fmt::format("{} {} {}", system.sysname, system.release, system.machine)}};
}

std::string governors_of(const std::vector<unsigned>& cpus, const std::filesystem::path& root) {
  std::vector<std::string> governors;  // in the order of their first CPU
  std::vector<std::vector<unsigned>> cpus_with;
  for (const unsigned cpu : cpus) {
    const std::string governor =
        first_word(root / fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", cpu));
    const auto known = std::ranges::find(governors, governor);
    const auto place = static_cast<std::size_t>(known - governors.begin());
    if (known == governors.end()) {
      governors.push_back(governor);
      cpus_with.emplace_back();
    }
    cpus_with[place].push_back(cpu);
  }
  if (governors.empty()) return unknown_fact;
  if (governors.size() == 1) return governors.front();
  std::string text;
  for (std::size_t i = 0; i < governors.size(); ++i)
    text += fmt::format("{}{} (CPUs {})", i == 0 ? "" : ", ", governors[i], with_ranges(cpus_with[i]));
  return text;
}

double pcie_link_rate(const std::string& link) {
  double transfers = 0;  // 10⁹ per second and lane
  unsigned lanes = 0;
  const char* const end = link.data() + link.size();
  constexpr std::string_view unit = " GT/s PCIe x";
  // Unlike sscanf, these functions read the same in every locale.
  const auto [after, error] = std::from_chars(link.data(), end, transfers);
  if (error != std::errc{} || !(transfers > 0) || !std::string_view(after, end).starts_with(unit)) return 0;
  if (std::from_chars(after + unit.size(), end, lanes).ec != std::errc{}) return 0;
  const double coding = transfers <= 5 ? 8.0 / 10 : transfers <= 32 ? 128.0 / 130 : 242.0 / 256;
  return transfers * 1e9 * coding * lanes / 8;
}

}  // namespace shiplap
