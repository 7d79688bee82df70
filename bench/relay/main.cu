// Jobs whose copies also go over the links of other GPUs, beside the same jobs over their own link alone.
//
//   relay DEVICE PROFILE [sweep]       DEVICE has several GPUs, as in cuda:0,1
//
// A job copies an array of the host to an array on the GPU (in), back (out), or from one array of the host to another
// (both). Times are medians of runs in turn. Every byte is compared. With `sweep`, random jobs are planned and then run
// with every share, size of pieces and number of chunks of a grid.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "shiplap/core/parallel.hpp"
#include "shiplap/core/statistics.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/shiplap.hpp"

namespace {

using shiplap::Bytes;
using shiplap::Chunk;
using shiplap::Seconds;

struct Word {
  std::uint32_t x, y, z, w;
  friend bool operator==(const Word&, const Word&) = default;
};

__global__ void copy_words(std::uint64_t n, const Word* from, Word* to, unsigned times) {
  for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < n;
       i += gridDim.x * std::uint64_t{blockDim.x}) {
    Word word = from[i];
    for (unsigned t = 0; t < times; ++t) word = {word.y, word.z, word.w, word.x};
    to[i] = word;
  }
}
__global__ void add_to_all(std::uint64_t n, float4* data, int times) {
  for (int t = 0; t < times; ++t)
    for (std::uint64_t i = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; i < n;
         i += gridDim.x * std::uint64_t{blockDim.x}) {
      float4 v = data[i];
      v.x += 1;
      data[i] = v;
    }
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// The arrays of all jobs. `times` rotations of a multiple of four leave a word as it is.
struct Arrays {
  explicit Arrays(shiplap::Device& device, Bytes size)
      : in_memory(device.allocate(shiplap::Place::host(), shiplap::MemoryKind::pinned, size)),
        out_memory(device.allocate(shiplap::Place::host(), shiplap::MemoryKind::pinned, size)),
        gpu_memory(device.allocate(shiplap::Place::gpu(0), shiplap::MemoryKind::device, size)),
        in{reinterpret_cast<Word*>(in_memory.data()), size.count / sizeof(Word)},
        out{reinterpret_cast<Word*>(out_memory.data()), size.count / sizeof(Word)},
        gpu{reinterpret_cast<Word*>(gpu_memory.data()), size.count / sizeof(Word)} {
    shiplap::parallel_for(in.size(), 1 << 16, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        const auto n = static_cast<std::uint32_t>(i);
        in[i] = {n * 2654435761u, n ^ 0x5bd1e995u, n * 40503u, ~n};
      }
    });
  }
  shiplap::Memory in_memory, out_memory, gpu_memory;
  std::span<Word> in, out, gpu;
};

shiplap::Job job_of(const Arrays& arrays, const std::string& way, std::size_t items, unsigned times) {
  const auto kernel = [times](cudaStream_t stream, Chunk chunk, auto from, auto to) {
    copy_words<<<1056, 256, 0, stream>>>(chunk.count, from.data(), to.data(), times);
  };
  const shiplap::Job job{items, way};
  const std::span<const Word> read = way == "out" ? arrays.gpu.first(items) : arrays.in.first(items);
  const std::span<Word> written = way == "in" ? arrays.gpu.first(items) : arrays.out.first(items);
  return job.in("from", read).out("to", written).kernel(kernel);
}

/// Whether the results are the first words of `in`; they are cleared for the next check.
bool right(const Arrays& arrays, const std::string& way, std::size_t items) {
  std::vector<Word> copied;
  std::span<const Word> result = arrays.out.first(items);
  if (way == "in") {
    copied.resize(items);
    check(cudaMemcpy(copied.data(), arrays.gpu.data(), items * sizeof(Word), cudaMemcpyDeviceToHost));
    check(cudaMemset(arrays.gpu.data(), 0, items * sizeof(Word)));
    result = copied;
  }
  const bool same = std::memcmp(result.data(), arrays.in.data(), items * sizeof(Word)) == 0;
  if (way != "in") std::memset(arrays.out.data(), 0, items * sizeof(Word));
  return same;
}

double milliseconds(shiplap::Prepared& prepared) { return shiplap::in_milliseconds(prepared.run().timeline.makespan); }

/// Medians of runs in turn.
std::vector<double> medians(std::vector<shiplap::Prepared*> all, unsigned rounds) {
  std::vector<std::vector<double>> times(all.size());
  for (unsigned round = 0; round < rounds + 1; ++round)
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double ms = milliseconds(*all[i]);
      if (round > 0) times[i].push_back(ms);
    }
  std::vector<double> result;
  for (std::vector<double>& one : times) result.push_back(shiplap::median(one));
  return result;
}

double rate(double bytes, double ms) { return bytes / ms / 1e6; }

void table(const shiplap::Node& node, const Arrays& arrays, std::vector<std::uint16_t> relays) {
  std::printf("way   size      own link          also others       times   predicted   error   choice\n");
  for (const std::string way : {"in", "out", "both"})
    for (const std::size_t mib : {1, 2, 4, 16, 64, 256, 1024, 4096}) {
      const std::size_t items = (mib << 20) / sizeof(Word);
      if (items > arrays.in.size()) continue;
      const shiplap::Job job = job_of(arrays, way, items, 0);
      const auto direct = shiplap::plan(node, job);
      const auto relayed = shiplap::plan(node, job, {.space = {.relays = relays}});
      auto own = shiplap::prepare(*node.device, direct, job);
      auto all = shiplap::prepare(*node.device, relayed, job);
      if (way == "out")
        check(cudaMemcpy(arrays.gpu.data(), arrays.in.data(), items * sizeof(Word), cudaMemcpyHostToDevice));
      const std::vector<double> ms = medians({&own, &all}, mib >= 1024 ? 9 : 21);
      static_cast<void>(right(arrays, way, items));
      if (way == "out")
        check(cudaMemcpy(arrays.gpu.data(), arrays.in.data(), items * sizeof(Word), cudaMemcpyHostToDevice));
      all.run();
      const bool is_right = right(arrays, way, items);
      const double bytes = static_cast<double>(items * sizeof(Word)) * (way == "both" ? 2 : 1);
      const double predicted = shiplap::in_milliseconds(relayed.chosen.predicted.value);
      std::printf("%-5s %4zu MiB %8.3f ms %5.1f %8.3f ms %5.1f  %5.2f %8.3f ms %+6.1f %%  %s%s\n", way.c_str(), mib,
                  ms[0], rate(bytes, ms[0]), ms[1], rate(bytes, ms[1]), ms[0] / ms[1], predicted,
                  100 * (predicted / ms[1] - 1), to_string(relayed.chosen.choice).c_str(), is_right ? "" : "  WRONG");
      std::fflush(stdout);
    }
}

void sweep(const shiplap::Node& node, const Arrays& arrays, std::vector<std::uint16_t> relays) {
  std::mt19937 random(60);
  const auto between = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution(std::log(low), std::log(high))(random));
  };
  std::vector<double> over, errors;
  for (int number = 0; number < 40; ++number) {
    const std::string way = number % 3 == 0 ? "in" : number % 3 == 1 ? "out" : "both";
    const auto items = static_cast<std::size_t>(between(2 << 20, 300 << 20) / sizeof(Word));
    const unsigned times = 4 * static_cast<unsigned>(between(1, 200));
    const shiplap::Job job = job_of(arrays, way, items, times);
    const auto plan = shiplap::plan(node, job, {.space = {.relays = relays}});
    struct Tried {
      shiplap::Choice choice;
      double ms;
    };
    std::vector<Tried> tried;
    const auto time_of = [&](const shiplap::Choice& choice, unsigned rounds) {
      auto prepared = shiplap::prepare(*node.device, plan.job, choice, plan.limits);
      return medians({&prepared}, rounds).front();
    };
    for (const std::uint32_t chunks : {1u, 4u, 12u, 32u})
      for (const std::uint64_t piece : {1, 2, 8})
        for (const double share : {0.0, 0.25, 0.4, 0.46, 0.48, 0.5}) {
          if (share == 0 && piece > 1) continue;
          shiplap::Choice choice{.chunks = chunks};
          if (share > 0) choice.relay = {.through = {{relays.front(), share}}, .piece = Bytes{piece << 20}};
          tried.push_back({choice, time_of(choice, 2)});
        }
    std::ranges::sort(tried, {}, &Tried::ms);
    tried.resize(3);
    // The best few again and the choice, in turn.
    std::vector<shiplap::Prepared> finalists;
    finalists.push_back(shiplap::prepare(*node.device, plan, job));
    for (const Tried& one : tried)
      finalists.push_back(shiplap::prepare(*node.device, plan.job, one.choice, plan.limits));
    std::vector<shiplap::Prepared*> all;
    for (shiplap::Prepared& one : finalists) all.push_back(&one);
    const std::vector<double> ms = medians(all, 15);
    const double least = *std::min_element(ms.begin() + 1, ms.end());
    const auto best = static_cast<std::size_t>(std::min_element(ms.begin() + 1, ms.end()) - ms.begin()) - 1;
    const double predicted = shiplap::in_milliseconds(plan.chosen.predicted.value);
    over.push_back(100 * (ms[0] / least - 1));
    errors.push_back(100 * (predicted / ms[0] - 1));
    std::printf("%2d %-4s %6.1f MiB x%-4u %8.3f ms, best %8.3f (%+.1f %%), predicted %+.1f %%: %s | %s\n", number,
                way.c_str(), static_cast<double>(items * sizeof(Word)) / (1 << 20), times, ms[0], least, over.back(),
                errors.back(), to_string(plan.chosen.choice).c_str(), to_string(tried[best].choice).c_str());
    std::fflush(stdout);
  }
  std::ranges::sort(over);
  for (double& error : errors) error = std::abs(error);
  std::ranges::sort(errors);
  std::printf("choice against the best of the sweep: median %+.2f %%, 90 %% %+.2f %%, worst %+.2f %%\n", over[20],
              over[36], over[39]);
  std::printf("error of the prediction: median %.1f %%, 90 %% %.1f %%, worst %.1f %%\n", errors[20], errors[36],
              errors[39]);
}

/// What a kernel on the relaying GPU loses that waits for its memory all the time.
void neighbour(const shiplap::Node& node, const Arrays& arrays, std::vector<std::uint16_t> relays) {
  const std::size_t items = (std::size_t{1024} << 20) / sizeof(Word);
  const std::size_t n = (std::size_t{512} << 20) / sizeof(float4);
  check(cudaSetDevice(relays.front()));
  void* data = nullptr;
  check(cudaMalloc(&data, n * sizeof(float4)));
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaEvent_t begin = nullptr, end = nullptr;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  for (const std::string way : {"in", "both"}) {
    const shiplap::Job job = job_of(arrays, way, items, 0);
    const auto plan = shiplap::plan(node, job, {.space = {.relays = relays}});
    auto prepared = shiplap::prepare(*node.device, plan, job);
    prepared.run();
    std::vector<double> alone, beside, job_alone, job_beside;
    for (int i = 0; i < 2 * 25; ++i) {
      check(cudaSetDevice(relays.front()));
      // About as long as the run, and begun before it.
      check(cudaEventRecord(begin, stream));
      add_to_all<<<1056, 256, 0, stream>>>(n, static_cast<float4*>(data), way == "in" ? 32 : 48);
      check(cudaEventRecord(end, stream));
      if (i % 2 == 1) job_beside.push_back(milliseconds(prepared));
      check(cudaEventSynchronize(end));
      if (i % 2 == 0) job_alone.push_back(milliseconds(prepared));
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin, end));
      (i % 2 == 1 ? beside : alone).push_back(static_cast<double>(ms));
    }
    for (auto* all : {&alone, &beside}) std::ranges::sort(*all);
    std::printf(
        "neighbour, %s: kernel %.3f ms alone, %.3f (%+.1f %%) beside a run, slowest of 25 %+.1f %%; the run %.3f ms "
        "alone, "
        "%.3f beside the kernel\n",
        way.c_str(), alone[12], beside[12], 100 * (beside[12] / alone[12] - 1), 100 * (beside[24] / alone[24] - 1),
        shiplap::median(job_alone), shiplap::median(job_beside));
    for (const std::string& said : plan.ranking.assumptions) std::printf("  %s\n", said.c_str());
  }
  check(cudaSetDevice(0));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: relay DEVICE PROFILE [sweep]\n");
    return 64;
  }
  const auto device = shiplap::open(argv[1]);
  const shiplap::Node node = shiplap::node_of(*device, shiplap::load_profile(argv[2]));
  std::vector<std::uint16_t> relays;
  for (std::uint16_t gpu = 1; gpu < device->info().gpus; ++gpu) relays.push_back(gpu);
  const bool sweeps = argc > 3 && std::string(argv[3]) == "sweep";
  const Arrays arrays(*device, Bytes{std::uint64_t{sweeps ? 300u : 4096u} << 20});
  if (sweeps) {
    sweep(node, arrays, relays);
    return 0;
  }
  table(node, arrays, relays);
  neighbour(node, arrays, relays);
}
