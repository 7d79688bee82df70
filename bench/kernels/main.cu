// Efficiency of the kernels of the built-in workloads: time on resident data as a fraction of the GPU's limit,
// alternating with the best library for the same work, if there is one. Prints a table and writes JSON.
//   kernels DEVICE OUT.json [NAME]     NAME: only the workloads whose names contain it
#include <cuda_runtime.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/kernels/libraries.cuh"
#include "shiplap/core/json.hpp"
#include "shiplap/core/quantity_json.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/workload/launches.hpp"
#include "shiplap/workload/workload.hpp"

namespace {

using namespace kernel_bench;
using shiplap::Array;
using shiplap::Job;
using shiplap::Json;

constexpr double wanted_ms = 5;  // duration of a sample
constexpr int samples = 15;

/// Theoretical limits of the GPU, from its clocks and widths.
struct Peak {
  double bytes = 0;  // bytes of device memory per second
  double fp32 = 0;   // fp32 operations per second
  double fp64 = 0;

  Peak() {
    int device = 0;
    check(cudaGetDevice(&device));
    const auto attribute = [&](cudaDeviceAttr which) {
      int value = 0;
      check(cudaDeviceGetAttribute(&value, which, device));
      return static_cast<double>(value);
    };
    // There are two transfers per clock. The attributes are in kHz and bits.
    bytes = 2e3 * attribute(cudaDevAttrMemoryClockRate) * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;
    // An SM of compute capability 9.0 does 128 fp32 or 64 fp64 fused multiply-adds per clock.
    fp32 = 1e3 * attribute(cudaDevAttrClockRate) * attribute(cudaDevAttrMultiProcessorCount) * 128 * 2;
    fp64 = fp32 / 2;
  }
};

/// The arrays of a job on the GPU, and launches of the whole job over them.
class OnGpu {
 public:
  explicit OnGpu(const shiplap::Workload& workload) : job_(workload.job) {
    std::vector<std::vector<std::byte>> host;
    for (const Array& array : job_.arrays) host.emplace_back(size_on_host(array).count);
    workload.fill({std::vector<std::span<std::byte>>(host.begin(), host.end())});
    for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
      const Array& array = job_.arrays[a];
      const auto& data = host[array.prefix_of.value_or(a)];
      operands_.push_back(nullptr);
      lengths_.push_back(array.size);
      origins_.emplace_back();
      check(cudaMalloc(&operands_.back(), std::max<std::uint64_t>(1, array.size.count)));
      if (!data.empty()) check(cudaMemcpy(operands_.back(), data.data(), array.size.count, cudaMemcpyHostToDevice));
    }
  }
  ~OnGpu() {
    for (std::byte* memory : operands_) cudaFree(memory);
  }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;

  void launch(cudaStream_t stream) const {
    job_.binding.cuda({.first_item = 0,
                       .items = job_.items,
                       .operands = operands_,
                       .lengths = lengths_,
                       .origins = origins_,
                       .blocks = shiplap::blocks_of(job_, job_.items),
                       .stream = stream});
  }
  const std::vector<std::byte*>& operands() const { return operands_; }

 private:
  const Job& job_;
  std::vector<std::byte*> operands_;
  std::vector<shiplap::Bytes> lengths_, origins_;
};

/// Times of one launch, each from several launches between two events.
struct Timed {
  std::string name;
  std::function<void(cudaStream_t)> enqueue;
  int launches = 1;
  std::vector<double> ms{};
};

void sample(Timed& timed, cudaStream_t stream, bool keep) {
  static cudaEvent_t start = nullptr, stop = nullptr;
  if (start == nullptr) {
    check(cudaEventCreate(&start));
    check(cudaEventCreate(&stop));
  }
  check(cudaEventRecord(start, stream));
  for (int i = 0; i < timed.launches; ++i) timed.enqueue(stream);
  check(cudaEventRecord(stop, stream));
  check(cudaEventSynchronize(stop));
  float ms = 0;
  check(cudaEventElapsedTime(&ms, start, stop));
  if (keep)
    timed.ms.push_back(static_cast<double>(ms) / timed.launches);
  else
    timed.launches = std::max(1, static_cast<int>(wanted_ms / (static_cast<double>(ms) / timed.launches)));
}

struct Case {
  std::string workload;
  bool fp64 = false;
};
const std::vector<Case> cases{{"saxpy:n=128Mi"},
                              {"scalar-add:in=512MiB,out=512MiB,iterations=1"},
                              {"matmul:p=256"},
                              {"matmul:p=512"},
                              {"matmul:p=1024"},
                              {"matmul:p=2048"},
                              {"matmul:p=4096"},
                              {"histogram:frames=64,data=uniform"},
                              {"histogram:frames=4096,data=uniform"},
                              {"histogram:frames=4096,data=degenerate"},
                              {"grayscale:frames=32"},
                              {"grayscale:frames=1024"},
                              {"grayscale:frames=1024,output=both"},
                              {"pop-state:outputs=1", true},
                              {"pop-state:outputs=3", true},
                              {"pop-buoydiff", true},
                              {"arccos:n=128Mi,calls=1"},
                              {"arccos:n=128Mi,calls=32"},
                              {"arccos:n=128Mi,calls=1,precision=promoted", true},
                              {"arccos:n=128Mi,calls=32,precision=promoted", true},
                              {"diffusion:nx=128,ny=128,nz=8192,steps=1", true},
                              {"diffusion:nx=4096,ny=4096,nz=8,steps=1", true},
                              {"diffusion:nx=128,ny=128,nz=64,steps=64", true},
                              {"convolution"},
                              {"spmv"}};

Json measure(const Case& one, const Peak& peak, cudaStream_t stream) {
  const shiplap::Workload workload = shiplap::find_workload(one.workload);
  const OnGpu data(workload);
  std::vector<Timed> all{{"shiplap", [&](cudaStream_t on) { data.launch(on); }}};
  for (Library& library : libraries_for(workload.job, data.operands()))
    all.push_back({library.name, std::move(library.enqueue)});
  for (int i = 0; i < 3; ++i)
    for (Timed& timed : all) sample(timed, stream, false);
  for (int i = 0; i < samples; ++i)
    for (Timed& timed : all) sample(timed, stream, true);
  const double seconds = shiplap::median(all[0].ms) / 1e3;
  const double of_memory = static_cast<double>(workload.job.device_traffic.count) / seconds / peak.bytes;
  const double of_arithmetic = workload.job.flops / seconds / (one.fp64 ? peak.fp64 : peak.fp32);
  std::printf("%-52s %10.4f ms %6.1f %% of memory %6.1f %% of %s", workload.job.name.c_str(), seconds * 1e3,
              100 * of_memory, 100 * of_arithmetic, one.fp64 ? "fp64" : "fp32");
  Json json{{"workload", workload.job.name},
            {"kernel", shiplap::quantity_json(shiplap::median(all[0].ms), "ms")},
            {"samples", shiplap::quantities_json(all[0].ms, "ms")},
            {"device_traffic", shiplap::quantity_json(workload.job.device_traffic)},
            {"operations", workload.job.flops},
            {"share_of_memory_bandwidth", of_memory},
            {one.fp64 ? "share_of_fp64" : "share_of_fp32", of_arithmetic},
            {"libraries", Json::array()}};
  for (std::size_t i = 1; i < all.size(); ++i) {
    const double ratio = shiplap::median(all[i].ms) / shiplap::median(all[0].ms);
    std::printf(" | %s %.4f ms: shiplap is at %.1f %% of its speed", all[i].name.c_str(), shiplap::median(all[i].ms),
                100 * ratio);
    json["libraries"].push_back({{"name", all[i].name},
                                 {"time", shiplap::quantity_json(shiplap::median(all[i].ms), "ms")},
                                 {"samples", shiplap::quantities_json(all[i].ms, "ms")}});
  }
  std::printf("\n");
  std::fflush(stdout);
  return json;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::cerr << "usage: kernels DEVICE OUT.json [NAME]\n";
    return 64;
  }
  const auto gpu = shiplap::open(argv[1]);
  const Peak peak;
  std::printf("%s: %.0f GB/s, %.1f fp32 and %.1f fp64 TFLOP/s by its clocks and widths\n", gpu->info().name.c_str(),
              peak.bytes / 1e9, peak.fp32 / 1e12, peak.fp64 / 1e12);
  Json json{
      {"schema", "shiplap/kernels"},
      {"version", 2},
      {"device", gpu->info().name},
      {"peak_memory", shiplap::quantity_json(peak.bytes, "B/s")},
      {"peak_fp32", shiplap::quantity_json(peak.fp32, "flop/s")},
      {"peak_fp64", shiplap::quantity_json(peak.fp64, "flop/s")},
      {"clock", "device events around several launches of the whole job on resident data, divided by their number"},
      {"kernels", Json::array()}};
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (const Case& one : cases) {
    if (argc > 3 && one.workload.find(argv[3]) == std::string::npos) continue;
    json["kernels"].push_back(measure(one, peak, stream));
    std::ofstream(argv[2]) << json.dump(1) << '\n';
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
