#include "shiplap/device/load.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <locale>
#include <sstream>
#include <thread>

#include "shiplap/core/kernel_file.hpp"
#include "shiplap/device/measurable_device.hpp"

namespace shiplap {
namespace {

// The limits are guesses, not measured.

/// Fraction of the time in which kernels of others may run on an idle GPU. NVML reports whole per cents.
constexpr double idle_gpu = 0.05;
/// Traffic of others over an idle link. It is 1 % of PCIe 5 x16.
constexpr Bandwidth idle_link{0.6e9};
/// Fraction of the time of all CPUs that other programs may use on an idle host.
constexpr double idle_host = 0.25;

std::optional<CpuTimes> cpu_times_now() { return cpu_times(text_of_kernel_file("/proc/stat")); }

/// CPU time of this process, in ticks.
double own_cpu_ticks() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return (seconds(usage.ru_utime) + seconds(usage.ru_stime)) * static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::string text_of(const GpuProcess& process) {
  return process.name.empty() ? fmt::format("process {}", process.id)
                              : fmt::format("process {}, {}", process.id, process.name);
}

std::string whole_percent(double fraction) { return fmt::format("{:.0f} %", 100 * fraction); }

}  // namespace

std::optional<CpuTimes> cpu_times(const std::string& proc_stat) {
  // The first line has the times of all CPUs: user, nice, system, idle, iowait, irq, softirq, steal (proc(5)).
  std::istringstream line(proc_stat.substr(0, proc_stat.find('\n')));
  line.imbue(std::locale::classic());
  std::string name;
  if (!(line >> name) || name != "cpu") return std::nullopt;
  constexpr std::size_t idle = 3;
  constexpr std::size_t waiting = 4;
  constexpr std::size_t columns = 8;
  CpuTimes times;
  double value = 0;
  std::size_t column = 0;
  for (; column < columns && line >> value; ++column) {
    times.all += value;
    if (column != idle && column != waiting) times.busy += value;
  }
  return column > idle ? std::optional(times) : std::nullopt;
}

NodeLoad observe_load(const MeasurableDevice& device, Seconds duration) {
  NodeLoad load;
  if (device.is_virtual()) return load;
  // The load average of the system would count a job that ended a minute ago, which is when a prolog runs.
  const auto before = cpu_times_now();
  const double own_before = own_cpu_ticks();
  std::this_thread::sleep_for(duration);
  load.gpu = device.load();
  const auto after = cpu_times_now();
  if (before && after && after->all > before->all)
    load.host = std::max(0.0, after->busy - before->busy - (own_cpu_ticks() - own_before)) / (after->all - before->all);
  return load;
}

std::vector<std::string> work_of_others(const NodeLoad& load) {
  std::vector<std::string> work;
  if (load.gpu.busy && *load.gpu.busy >= idle_gpu) {
    std::string who;
    for (const GpuProcess& process : load.gpu.processes) who += (who.empty() ? "" : "; ") + text_of(process);
    work.push_back(fmt::format("the GPU is in use {} of the time{}", whole_percent(*load.gpu.busy),
                               who.empty() ? "" : fmt::format(" ({})", who)));
  }
  if (load.gpu.link && *load.gpu.link >= idle_link)
    work.push_back(fmt::format("the link of the GPU carries {}", to_string(*load.gpu.link)));
  if (load.host && *load.host >= idle_host)
    work.push_back(fmt::format("other programs use {} of the time of all CPUs", whole_percent(*load.host)));
  return work;
}

std::vector<std::string> possible_work_of_others(const NodeLoad& load) {
  std::vector<std::string> work;
  for (const GpuProcess& process : load.gpu.processes)
    work.push_back(fmt::format("{} holds memory of the GPU", text_of(process)));
  return work;
}

}  // namespace shiplap
