// Host memory that cannot be had, and NUMA nodes that threads and memory cannot be kept to. Needs no GPU: every call is
// faked, those of hwloc that a test wants to fail too.
#include "shiplap/device/cuda/host_memory.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwloc.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/device/cuda/cuda_device.hpp"
#include "shiplap/device/cuda/numa.hpp"
#include "shiplap/device/host_work.hpp"
#include "tests/device/cuda/fake_api.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap::testing {
namespace {

/// What calls of hwloc do in this program.
struct FakeHwloc {
  std::string_view fails{};            ///< name of the call that fails, with EPERM
  bool several_nodes = false;          ///< whether the host has two NUMA nodes, to which memory is bound in name only
  std::vector<int> memory_policies{};  ///< those that were set
  /// The processors to which every thread is bound, as in "2-5"; "": hwloc is asked, which cannot bind threads to those
  /// of another host than this.
  std::string bound_to{};
};
FakeHwloc fake_hwloc;

bool hwloc_fails(std::string_view name) {
  if (fake_hwloc.fails == name) errno = EPERM;
  return fake_hwloc.fails == name;
}

/// The function of hwloc behind the one of this file that has its name.
template <class Function>
Function* of_hwloc(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace shiplap::testing

extern "C" {
hwloc_bitmap_t hwloc_bitmap_alloc() {
  if (shiplap::testing::hwloc_fails("hwloc_bitmap_alloc")) return nullptr;
  return shiplap::testing::of_hwloc<decltype(hwloc_bitmap_alloc)>("hwloc_bitmap_alloc")();
}
int hwloc_get_cpubind(hwloc_topology_t topology, hwloc_cpuset_t set, int flags) {
  if (shiplap::testing::hwloc_fails("hwloc_get_cpubind")) return -1;
  if (const std::string& list = shiplap::testing::fake_hwloc.bound_to; !list.empty())
    return hwloc_bitmap_list_sscanf(set, list.c_str());
  return shiplap::testing::of_hwloc<decltype(hwloc_get_cpubind)>("hwloc_get_cpubind")(topology, set, flags);
}
int hwloc_set_cpubind(hwloc_topology_t topology, hwloc_const_cpuset_t set, int flags) {
  if (shiplap::testing::hwloc_fails("hwloc_set_cpubind")) return -1;
  if (std::string& list = shiplap::testing::fake_hwloc.bound_to; !list.empty()) {
    std::array<char, 100> text{};
    hwloc_bitmap_list_snprintf(text.data(), text.size(), set);
    list = text.data();
    return 0;
  }
  return shiplap::testing::of_hwloc<decltype(hwloc_set_cpubind)>("hwloc_set_cpubind")(topology, set, flags);
}
unsigned hwloc_get_nbobjs_by_depth(hwloc_topology_t topology, int depth) {
  if (shiplap::testing::fake_hwloc.several_nodes && depth == HWLOC_TYPE_DEPTH_NUMANODE) return 2;
  return shiplap::testing::of_hwloc<decltype(hwloc_get_nbobjs_by_depth)>("hwloc_get_nbobjs_by_depth")(topology, depth);
}
int hwloc_set_membind(hwloc_topology_t topology, hwloc_const_bitmap_t set, hwloc_membind_policy_t policy, int flags) {
  if (shiplap::testing::hwloc_fails("hwloc_set_membind")) return -1;
  if (!shiplap::testing::fake_hwloc.several_nodes)
    return shiplap::testing::of_hwloc<decltype(hwloc_set_membind)>("hwloc_set_membind")(topology, set, policy, flags);
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  shiplap::testing::fake_hwloc.memory_policies.push_back(policy);
  // Really sets another policy than the tests do, as hwloc would.
  const unsigned long node = 1;
  static_cast<void>(syscall(SYS_set_mempolicy, MPOL_PREFERRED, &node, 64UL));
  return 0;
}
}

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::fake_api;
using testing::fake_cuda;
using testing::fake_hwloc;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct HostMemoryFixture : ::testing::Test {
  HostMemoryFixture() { fake_hwloc = {}; }
  ~HostMemoryFixture() override { fake_hwloc = {}; }

  std::string refusal(Place place, MemoryKind kind, Bytes size) const {
    return message_of([&] { allocate_host_memory(api, place, kind, size); });
  }

  Api api = fake_api();
  std::uint16_t node = numa_nodes_of_host().at(0);
};
using HostMemoryFake = HostMemoryFixture;

/// Cores that the calling thread may run on.
std::vector<int> cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  std::vector<int> result;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) result.push_back(core);
  return result;
}

constexpr MemoryKind kinds_of_host[] = {MemoryKind::pageable, MemoryKind::pinned, MemoryKind::mapped,
                                        MemoryKind::driver_pinned, MemoryKind::write_combined};

TEST_F(HostMemoryFake, is_on_a_numa_node_that_there_is) {
  for (const MemoryKind kind : kinds_of_host)
    EXPECT_THAT(refusal(Place::host(999), kind, 4_KiB), HasSubstr("this process can use no NUMA node 999: it can use "))
        << to_string(kind);
  EXPECT_EQ(fake_cuda().live(), 0);
}

TEST_F(HostMemoryFake, is_not_memory_that_a_gpu_has_too) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::managed})
    for (const Bytes size : {0_B, 4_KiB})
      EXPECT_EQ(message_of<Unsupported>([&] { allocate_host_memory(api, Place::host(), kind, size); }),
                to_string(kind) + " memory is not the host's alone");
  EXPECT_EQ(fake_cuda().live(), 0);
}

TEST_F(HostMemoryFake, that_the_host_does_not_have_is_not_asked_for) {
  if (!available_host_memory()) GTEST_SKIP() << "the system does not say how much memory is available";
  for (const MemoryKind kind : kinds_of_host)
    EXPECT_THAT(
        refusal(Place::host(node), kind, Bytes{1ull << 50}),
        AllOf(HasSubstr(to_string(Bytes{1ull << 50}) + " of " + to_string(kind) + " host memory are needed and "),
              HasSubstr("are available: use smaller arrays")));
  EXPECT_THAT(fake_cuda().calls, IsEmpty());
}

// Memory in huge pages takes up to one such page more than is asked for.
TEST_F(HostMemoryFake, that_the_system_refuses_is_told_with_what_there_is) {
  constexpr Bytes spare = 64_MiB;
  constexpr Bytes size = 63_MiB;
  const auto available = available_host_memory();
  if (!available || available->size < spare * 2) GTEST_SKIP() << "there is less memory than the test needs";
  rlim_t pages = 0;
  ASSERT_TRUE(std::ifstream("/proc/self/statm") >> pages);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit tight{.rlim_cur = pages * page_size() + spare.count, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  const std::string message = refusal(Place::host(node), MemoryKind::pinned, size);
  setrlimit(RLIMIT_AS, &before);
  EXPECT_THAT(message, AllOf(HasSubstr("the system refused 63 MiB of pinned host memory; "),
                             HasSubstr(" under `ulimit -v` are available: use smaller arrays")));
  EXPECT_EQ(fake_cuda().live(), 0);
  EXPECT_EQ(fake_cuda().count("host_register"), 0u);
}

TEST_F(HostMemoryFake, that_a_gpu_sees_elsewhere_is_given_back) {
  api.host_get_device_pointer = [](void** device, void* host, unsigned) {
    *device = static_cast<std::byte*>(host) + 4096;
    return cudaSuccess;
  };
  for (const MemoryKind kind : {MemoryKind::pinned, MemoryKind::mapped}) {
    EXPECT_EQ(message_of<Unsupported>([&] { allocate_host_memory(api, Place::host(node), kind, 4_KiB); }),
              "this GPU does not address registered host memory as the host does, which shiplap relies on");
    EXPECT_EQ(fake_cuda().live(), 0);
  }
  EXPECT_EQ(fake_cuda().count("host_register"), 2u);
}

/// The memory policy of the calling thread, as the system has it; nullopt where it does not allow the question.
std::optional<std::pair<int, unsigned long>> memory_policy() {
  int mode = 0;
  std::array<unsigned long, 64> nodes{};
  if (syscall(SYS_get_mempolicy, &mode, nodes.data(), nodes.size() * 64, nullptr, 0UL) != 0) return std::nullopt;
  return std::pair(mode, nodes[0]);
}

void set_memory_policy(int mode, unsigned long nodes) {
  ASSERT_EQ(syscall(SYS_set_mempolicy, mode, nodes == 0 ? nullptr : &nodes, nodes == 0 ? 0UL : 64UL), 0);
}

// Among others a binding, as of `numactl --membind`, must not become a preference.
TEST_F(HostMemoryFake, leaves_its_thread_the_memory_policy_that_it_had) {
  if (!memory_policy()) GTEST_SKIP() << "memory policies are forbidden here";
  fake_hwloc.several_nodes = true;
  for (const int mode : {MPOL_BIND, MPOL_INTERLEAVE, MPOL_PREFERRED, MPOL_DEFAULT})
    for (const bool fails : {false, true}) {
      set_memory_policy(mode, mode == MPOL_DEFAULT ? 0 : 1);
      const auto before = memory_policy();
      fake_hwloc.memory_policies.clear();
      if (fails) {
        fake_cuda().fail(0, cudaErrorMemoryAllocation, "host_register");
        EXPECT_THAT(refusal(Place::host(node), MemoryKind::pinned, 4_KiB), HasSubstr("cudaHostRegister failed"));
      } else {
        EXPECT_NE(allocate_host_memory(api, Place::host(node), MemoryKind::pinned, 4_KiB).data(), nullptr);
      }
      EXPECT_THAT(fake_hwloc.memory_policies, ElementsAre(HWLOC_MEMBIND_BIND));
      EXPECT_EQ(memory_policy(), before) << mode;
    }
  set_memory_policy(MPOL_DEFAULT, 0);
}

// Containers forbid memory policies. The thread then runs on the cores of the node while it touches the memory.
TEST_F(HostMemoryFake, is_allocated_where_memory_policies_are_forbidden) {
  fake_hwloc.several_nodes = true;
  fake_hwloc.fails = "hwloc_set_membind";
  const std::vector<int> before = cores();
  for (const MemoryKind kind : kinds_of_host)
    EXPECT_NE(allocate_host_memory(api, Place::host(node), kind, 4_KiB).data(), nullptr) << to_string(kind);
  EXPECT_EQ(cores(), before);
  EXPECT_EQ(fake_cuda().live(), 0);
}

TEST_F(HostMemoryFake, has_all_its_pages_whatever_number_of_threads_makes_them) {
  for (const bool several_nodes : {false, true}) {
    fake_hwloc.several_nodes = several_nodes;
    const std::vector<int> before = cores();
    for (const Place place : {Place::host(), Place::host(node)})
      for (const MemoryKind kind : {MemoryKind::pageable, MemoryKind::pinned}) {
        const Memory memory = allocate_host_memory(api, place, kind, 65_MiB + 4_KiB);
        const std::optional<double> present = fraction_of_pages_present(memory.bytes());
        EXPECT_EQ(present.value_or(1), 1) << to_string(kind);
        for (std::size_t at = 0; at < memory.size().count; at += 4096) ASSERT_EQ(memory.bytes()[at], std::byte{0});
      }
    EXPECT_EQ(cores(), before);
  }
}

TEST_F(HostMemoryFake, of_no_particular_node_needs_no_policy) {
  fake_hwloc.several_nodes = true;
  for (const MemoryKind kind : kinds_of_host) allocate_host_memory(api, Place::host(), kind, 4_KiB);
  EXPECT_THAT(fake_hwloc.memory_policies, IsEmpty());
}

TEST_F(HostMemoryFake, thread_is_kept_to_no_node_that_there_is_not) {
  const std::vector<int> before = cores();
  const std::string message = "this process can use no NUMA node 999";
  EXPECT_THAT(message_of([] { keep_to_cores_of(999); }), HasSubstr(message));
  EXPECT_THAT(message_of([] { const OnCoresOf bound(999); }), HasSubstr(message));
  EXPECT_EQ(cores(), before);
}

TEST_F(HostMemoryFake, thread_that_the_system_does_not_bind_stays_where_it_was) {
  const std::vector<int> before = cores();
  for (const char* call : {"hwloc_set_cpubind", "hwloc_get_cpubind", "hwloc_bitmap_alloc"}) {
    fake_hwloc.fails = call;
    keep_to_cores_of(node);
    { const OnCoresOf bound(node); }
    EXPECT_EQ(cores(), before) << call;
  }
}

TEST_F(HostMemoryFake, thread_that_may_use_some_cores_of_a_node_stays_on_them) {
  const std::vector<int> before = cores();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(before.back(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  {
    const OnCoresOf bound(node);
    EXPECT_THAT(cores(), ElementsAre(before.back()));
  }
  keep_to_cores_of(node);
  EXPECT_THAT(cores(), ElementsAre(before.back()));
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const int core : before) CPU_SET(core, &all);
  ASSERT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
}

/// Shows where the threads of a process run that may use processors 2 to 5 of a host with two sockets of four cores:
/// one line on stderr for each case. Then the process ends, because hwloc looks at the host once.
[[noreturn]] void show_threads_on_two_sockets() {
  setenv("HWLOC_SYNTHETIC", "pack:2 [numa] core:4 pu:1", 1);
  fake_hwloc = {};
  fake_hwloc.bound_to = "2-5";
  const auto show = [](const char* when) { std::fprintf(stderr, "%s: %s\n", when, fake_hwloc.bound_to.c_str()); };
  {
    const OnCoresOf bound(0);
    show("on node 0");
  }
  {
    const OnCoresOf bound(1);
    show("on node 1");
  }
  show("afterwards");
  Api api = fake_api();
  api.device_get_pci_bus_id = [](char* text, int length, int) {
    std::snprintf(text, static_cast<std::size_t>(length), "nowhere");  // on no node, so the first one is the nearest
    return cudaSuccess;
  };
  const auto device = open_cuda(0, api);
  std::fprintf(stderr, "%zu nodes\n", device->info().numa_nodes.size());
  {
    const auto bound = device->on_cores_of(Place::host());
    show("on the nearest node");
  }
  {
    const auto bound = device->on_cores_of(Place::host(1));
    show("on node 1 by the device");
    const OnCoresOf inner(1);
    show("and once more");
  }
  show("in the end");
  fake_hwloc.bound_to = "0-3";
  {
    const auto bound = device->on_cores_of(Place::host(1));
    show("without a core there");
  }
  std::fprintf(stderr, "nodes then:");
  for (const std::uint16_t number : numa_nodes_of_host()) std::fprintf(stderr, " %d", number);
  std::fprintf(stderr, "\n");
  std::_Exit(0);
}

TEST(TwoSockets, keep_threads_to_the_cores_of_a_node_that_the_process_may_use_and_let_them_go_again) {
  const std::string before = ::testing::GTEST_FLAG(death_test_style);
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";  // a process that has not looked at this host
  EXPECT_EXIT(show_threads_on_two_sockets(), ::testing::ExitedWithCode(0),
              AllOf(HasSubstr("on node 0: 2-3\non node 1: 4-5\nafterwards: 2-5\n2 nodes\n"),
                    HasSubstr("on the nearest node: 2-3\non node 1 by the device: 4-5\nand once more: 4-5\n"),
                    HasSubstr("in the end: 2-5\nwithout a core there: 0-3\nnodes then: 0\n")));
  ::testing::GTEST_FLAG(death_test_style) = before;
}

TEST_F(HostMemoryFake, nodes_begin_with_the_nearest_that_there_is) {
  EXPECT_EQ(numa_nodes_of_host(999), numa_nodes_of_host());
  EXPECT_EQ(numa_nodes_of_host(node).front(), node);
}

}  // namespace
}  // namespace shiplap
