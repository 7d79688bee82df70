#include "tests/support/built_in_workloads.hpp"

#include <algorithm>

#include "shiplap/core/error.hpp"
#include "shiplap/pipeline/prepared.hpp"
#include "shiplap/pipeline/workload_data.hpp"
#include "shiplap/schedule/schedule.hpp"

namespace shiplap::testing {

std::vector<std::string> small_workloads() {
  return {"saxpy:n=211",
          "scalar-add:in=1420B,out=2556B,iterations=3",
          "matmul:m=149,n=37,p=53",
          "histogram:frames=13,width=37,height=29,data=uniform",
          "histogram:frames=13,width=64,height=32,data=mixed",
          "grayscale:frames=11,width=33,height=17,output=histogram",
          "grayscale:frames=11,width=32,height=16,output=both",
          "pop-state:nx=33,ny=7,nz=13",
          "pop-state:nx=34,ny=8,nz=13,outputs=3",
          "pop-buoydiff:nx=31,ny=9,nz=17",
          "pop-buoydiff:nx=32,ny=9,nz=17",
          "arccos:n=211,calls=3",
          "arccos:n=212,calls=33,precision=promoted",
          "diffusion:nx=20,ny=13,nz=11,steps=1",
          "diffusion:nx=3,ny=1,nz=11,steps=2",
          "diffusion:nx=67,ny=71,nz=5,steps=5",
          "diffusion:nx=20,ny=13,nz=3,steps=7,split=steps",
          "convolution:height=61,width=45,filter=5",
          "convolution:height=37,width=64,filter=17",
          "spmv:rows=301,nonzeros=4003"};
}

Workload workload_for(const std::string& name, const Strategy& strategy) {
  Workload workload = find_workload(name);
  workload.job.cost = {.points = {{workload.job.items, Interval<Seconds>::exact(milliseconds(1))}}, .origin = "stated"};
  for (Array& array : workload.job.arrays)
    array.memory = strategy.memory == ArrayMemory::pageable  ? MemoryKind::pageable
                   : strategy.memory == ArrayMemory::managed ? MemoryKind::managed
                                                             : MemoryKind::pinned;
  return workload;
}

std::vector<std::uint32_t> chunk_counts(const Job& job) {
  std::vector<std::uint32_t> counts;
  for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{7}, job.items})
    if (count <= job.items && (counts.empty() || counts.back() < count))
      counts.push_back(static_cast<std::uint32_t>(count));
  return counts;
}

bool can_run(const Job& job, const Strategy& strategy) { return offers_zero_copy(job) || !strategy.zero_copy; }

std::string difference_after_runs(MeasurableDevice& device, const std::string& name, const Choice& choice) {
  const Strategy& strategy = find_strategy(choice.strategy);
  if (const Job job = workload_for(name, strategy).job; !can_run(job, strategy)) {
    try {
      strategy.schedule(job, choice, {.device_memory = 256_MiB});
    } catch (const Unsupported&) {
      return "";
    }
    return "not refused";
  }
  WorkloadData data(device, workload_for(name, strategy));
  Prepared prepared = prepare(device, data.job(), choice, {.device_memory = 256_MiB});
  for (int run = 0; run < 2; ++run) {
    data.refill();
    prepared.run();
    if (std::string difference = data.verify(); !difference.empty()) return difference;
  }
  return "";
}

}  // namespace shiplap::testing
