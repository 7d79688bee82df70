#include "shiplap/core/host_limits.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "shiplap/core/parallel.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;
using namespace shiplap::literals;

/// A root of a file system in which the files of the kernel are planted.
class PlantedRoot : public ::testing::Test {
 protected:
  void plant(const fs::path& file, const std::string& text) const {
    fs::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }
  void plant_version_2(const std::string& group, const std::string& top = "/") const {
    plant("proc/self/cgroup", "0::" + group + "\n");
    plant("proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n31 22 0:26 " + top +
                                     " /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
  }
  TemporaryFolder temporary;
  fs::path root = temporary.path();
};

TEST_F(PlantedRoot, without_cgroups_has_no_limits) {
  const CgroupLimits limits = cgroup_limits(root);
  EXPECT_FALSE(limits.memory || limits.memory_left || limits.cpus);
}

TEST_F(PlantedRoot, takes_the_tightest_limit_of_version_2_on_the_way_up) {
  plant_version_2("/system.slice/job.scope/step");
  plant("sys/fs/cgroup/system.slice/job.scope/step/memory.max", "max\n");
  plant("sys/fs/cgroup/system.slice/job.scope/step/cpu.max", "max 100000\n");
  plant("sys/fs/cgroup/system.slice/job.scope/memory.max", "2147483648\n");
  plant("sys/fs/cgroup/system.slice/job.scope/memory.current", "1610612736\n");
  plant("sys/fs/cgroup/system.slice/job.scope/memory.stat", "anon 1\ninactive_file 536870912\nactive_file 3\n");
  plant("sys/fs/cgroup/system.slice/job.scope/cpu.max", "150000 100000\n");
  plant("sys/fs/cgroup/system.slice/memory.max", "8589934592\n");
  plant("sys/fs/cgroup/system.slice/memory.current", "8053063680\n");
  plant("sys/fs/cgroup/system.slice/cpu.max", "400000 100000\n");
  const CgroupLimits limits = cgroup_limits(root);
  EXPECT_EQ(limits.memory, 2_GiB);
  EXPECT_EQ(limits.memory_left, 512_MiB) << "8 GiB - 7.5 GiB outside; inside the file cache can be given up";
  EXPECT_EQ(limits.cpus, 1.5);
}

TEST_F(PlantedRoot, finds_the_files_of_version_1_by_controller) {
  plant("proc/self/cgroup", "5:devices:/\n4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n0::/\n");
  plant("proc/self/mountinfo",
        "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "35 31 0:32 /docker/abc /sys/fs/cgroup/my\\040memory rw - cgroup cgroup rw,memory\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  plant("sys/fs/cgroup/my memory/memory.limit_in_bytes", "1073741824\n");
  plant("sys/fs/cgroup/my memory/memory.usage_in_bytes", "536870912\n");
  plant("sys/fs/cgroup/my memory/memory.stat", "inactive_file 7\ntotal_inactive_file 268435456\n");
  plant("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "50000\n");
  plant("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
  plant("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  plant("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  const CgroupLimits limits = cgroup_limits(root);
  EXPECT_EQ(limits.memory, 1_GiB);
  EXPECT_EQ(limits.memory_left, 768_MiB);
  EXPECT_EQ(limits.cpus, 0.5);
}

TEST_F(PlantedRoot, takes_the_largest_number_of_version_1_for_no_limit) {
  plant("proc/self/cgroup", "4:memory:/\n");
  plant("proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  plant("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  plant("sys/fs/cgroup/memory/memory.usage_in_bytes", "536870912\n");
  EXPECT_FALSE(cgroup_limits(root).memory);
}

TEST_F(PlantedRoot, reads_the_limit_of_a_container_that_sees_its_cgroup_as_the_top) {
  plant_version_2("/../../other", "/docker/abc");
  plant("sys/fs/cgroup/memory.max", "1073741824\n");
  plant("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(cgroup_limits(root).memory, 1_GiB);
  EXPECT_EQ(cgroup_limits(root).memory_left, 1_GiB) << "nothing says what is used";
  EXPECT_EQ(cgroup_limits(root).cpus, 2);
}

TEST_F(PlantedRoot, takes_use_beyond_the_limit_for_nothing_left) {
  plant_version_2("/");
  plant("sys/fs/cgroup/memory.max", "1000\n");
  plant("sys/fs/cgroup/memory.current", "4000\n");
  EXPECT_EQ(cgroup_limits(root).memory_left, 0_B);
}

TEST_F(PlantedRoot, of_nonsense_has_no_limits) {
  for (const char* nonsense : {"", "\n", ":", "0::", "::::", "0::/a\n0", "\xff\xfe"}) {
    plant("proc/self/cgroup", nonsense);
    plant("proc/self/mountinfo", std::string(nonsense) + "\n31 22 - cgroup2\n - - - -\n");
    plant("sys/fs/cgroup/memory.max", "-5\n");
    plant("sys/fs/cgroup/cpu.max", "100000 0\n");
    const CgroupLimits limits = cgroup_limits(root);
    EXPECT_FALSE(limits.memory || limits.cpus) << nonsense;
  }
}

/// Runs on a thread that may use one hardware thread only.
void on_one_cpu(const std::function<void()>& run) {
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    int first = 0;
    while (!CPU_ISSET(first, &all)) ++first;
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    run();
  }).join();
}

TEST(UsableCpus, are_at_least_one_and_no_more_than_the_affinity_mask_has) {
  EXPECT_GE(usable_cpus(), 1u);
  EXPECT_LE(usable_cpus(), std::thread::hardware_concurrency());
  on_one_cpu([] { EXPECT_EQ(usable_cpus(), 1u); });
}

TEST(CpusOfAffinity, are_those_of_the_mask_in_increasing_order) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  std::vector<unsigned> expected;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all)) expected.push_back(cpu);
  EXPECT_EQ(cpus_of_affinity(), expected);
  on_one_cpu([&] { EXPECT_EQ(cpus_of_affinity(), std::vector{expected.front()}); });
}

TEST(ParallelFor, starts_no_thread_where_the_affinity_mask_has_one_cpu) {
  on_one_cpu([] {
    std::mutex mutex;
    std::set<std::thread::id> threads;
    parallel_for(1000, 1, [&](std::uint64_t, std::uint64_t) {
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    });
    EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
  });
}

/// Sets a resource limit until it is destroyed.
class Limited {
 public:
  Limited(__rlimit_resource_t what, rlim_t value) : what_(what) {
    getrlimit(what, &before_);
    const rlimit now{.rlim_cur = value, .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(what, &now), 0);
  }
  ~Limited() { setrlimit(what_, &before_); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

 private:
  __rlimit_resource_t what_;
  rlimit before_{};
};

TEST(AddressSpaceLeft, is_the_limit_without_what_is_in_use) {
  EXPECT_FALSE(address_space_left());
  const rlim_t most = rlim_t{1} << 47;  // all that a process can have; sanitizers take most of it
  const Limited limited(RLIMIT_AS, most);
  const auto left = address_space_left();
  ASSERT_TRUE(left);
  EXPECT_LT(left->count, most);
}

}  // namespace
}  // namespace shiplap
