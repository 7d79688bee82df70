// First and later calls of a job beside what a program does without shiplap, and beside pipelines by hand.
//   first_call PROFILE [MIB...]              prints a table; each line is a process of its own
//   first_call PROFILE JOB MIB MEMORY WAY    prints one line: milliseconds of three calls, kept, predicted
// The CUDA context and the arrays exist before the first call, the GPU's memory does for `plain` and `hand` too.
// "plain" copies all, runs the kernel and copies back. "hand" is the best of three numbers of chunks: on four streams
// for pinned arrays, through rings that eight threads fill and empty for pageable ones. "shiplap" plans, prepares and
// runs in each call; "kept" is the median of later runs of what was prepared, or by hand. MIB is the size of the input.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/by_hand/harness.hpp"
#include "bench/by_hand/kernels.cuh"
#include "bench/by_hand/pipelines.cuh"
#include "bench/by_hand/setting.cuh"
#include "shiplap/profile/profile.hpp"
#include "shiplap/shiplap.hpp"

namespace {

using by_hand::blocks;
using by_hand::check;
using by_hand::part;
using by_hand::Range;

constexpr std::size_t row = 1024;  // elements of a row of `norm`
constexpr int hand_threads = 8;

__device__ float normal(float x) { return 0.5f * erfcf(-x * 0.70710678f); }

/// Prices of options; all pointers to the first of the chunk.
__global__ void price(std::size_t items, const float* spot, const float* strike, const float* years, float* call,
                      float* put) {
  const std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  if (i >= items) return;
  const float root = 0.3f * sqrtf(years[i]);
  const float d1 = (logf(spot[i] / strike[i]) + 0.065f * years[i]) / root;
  const float discounted = strike[i] * expf(-0.02f * years[i]);
  call[i] = spot[i] * normal(d1) - discounted * normal(d1 - root);
  put[i] = discounted * normal(root - d1) - spot[i] * normal(-d1);
}

/// Each row less its mean; a block for each row.
__global__ void norm(const float* x, float* y) {
  __shared__ float sums[256];
  const float* in = x + blockIdx.x * row;
  float sum = 0;
  for (std::size_t i = threadIdx.x; i < row; i += 256) sum += in[i];
  sums[threadIdx.x] = sum;
  for (unsigned width = 128; width > 0; width /= 2) {
    __syncthreads();
    if (threadIdx.x < width) sums[threadIdx.x] += sums[threadIdx.x + width];
  }
  __syncthreads();
  for (std::size_t i = threadIdx.x; i < row; i += 256) y[blockIdx.x * row + i] = in[i] - sums[0] / row;
}

/// An array of a job, on the host and on the GPU.
struct Operand {
  std::span<float> host;
  bool in = false;
  bool out = false;
  std::size_t per_item = 1;  ///< elements
  float* gpu = nullptr;
};

/// A job in all ways.
struct Work {
  std::size_t items = 0;
  std::vector<Operand> operands{};
  std::function<void(cudaStream_t, Range)> launch{};  ///< on the whole arrays of the GPU
  shiplap::Job job;
};

std::size_t bytes_of(const Operand& one, const Range& range) {
  return (range.end - range.first) * one.per_item * sizeof(float);
}

void run_plain(const Work& work) {
  const Range all{0, work.items};
  for (const Operand& one : work.operands)
    if (one.in) check(cudaMemcpy(one.gpu, one.host.data(), bytes_of(one, all), cudaMemcpyDefault));
  work.launch(nullptr, all);
  for (const Operand& one : work.operands)
    if (one.out) check(cudaMemcpy(one.host.data(), one.gpu, bytes_of(one, all), cudaMemcpyDefault));
}

void run_streams(const Work& work, by_hand::FourStreams& streams, int chunks) {
  streams.run(chunks, [&](int c, int, cudaStream_t stream) {
    const Range range = part(work.items, c, chunks);
    const auto copy = [&](const Operand& one, bool to_gpu) {
      float* const there = one.gpu + range.first * one.per_item;
      float* const here = one.host.data() + range.first * one.per_item;
      check(cudaMemcpyAsync(to_gpu ? there : here, to_gpu ? here : there, bytes_of(one, range), cudaMemcpyDefault,
                            stream));
    };
    for (const Operand& one : work.operands)
      if (one.in) copy(one, true);
    work.launch(stream, range);
    for (const Operand& one : work.operands)
      if (one.out) copy(one, false);
  });
}

void run_rings(const Work& work, by_hand::Rings& rings, int chunks) {
  /// Calls `use` with each operand of the direction, its first element of the chunk, and its place in the slot.
  const auto each = [&](int c, bool in, auto* place, const auto& use) {
    const Range range = part(work.items, c, chunks);
    for (const Operand& one : work.operands)
      if (in ? one.in : one.out) {
        use(one, range.first * one.per_item, place, bytes_of(one, range));
        place += bytes_of(one, range);
      }
  };
  rings.run(
      [&](int c, std::byte* place) {
        each(c, true, place, [](const Operand& one, std::size_t first, std::byte* to, std::size_t bytes) {
          std::memcpy(to, one.host.data() + first, bytes);
        });
      },
      [&](int c, const std::byte* place, cudaStream_t stream) {
        each(c, true, place, [&](const Operand& one, std::size_t first, const std::byte* from, std::size_t bytes) {
          check(cudaMemcpyAsync(one.gpu + first, from, bytes, cudaMemcpyDefault, stream));
        });
        work.launch(stream, part(work.items, c, chunks));
      },
      [&](int c, std::byte* place, cudaStream_t stream) {
        each(c, false, place, [&](const Operand& one, std::size_t first, std::byte* to, std::size_t bytes) {
          check(cudaMemcpyAsync(to, one.gpu + first, bytes, cudaMemcpyDefault, stream));
        });
      },
      [&](int c, const std::byte* place) {
        each(c, false, place, [](const Operand& one, std::size_t first, const std::byte* from, std::size_t bytes) {
          std::memcpy(one.host.data() + first, from, bytes);
        });
      });
}

double median_of(const std::function<void()>& run, int count) {
  run();
  std::vector<double> times;
  for (int i = 0; i < count; ++i) times.push_back(by_hand::timed(run));
  return shiplap::median(times);
}

/// Host memory of the job, which lives as long as the process.
struct Arrays {
  shiplap::Device& gpu;
  bool pinned;
  std::vector<std::vector<float>> pageable{};
  std::vector<shiplap::Memory> memory{};

  std::span<float> make(std::size_t n, float scale) {
    std::span<float> made;
    if (pinned) {
      memory.push_back(
          gpu.allocate(shiplap::Place::host(), shiplap::MemoryKind::pinned, shiplap::Bytes{n * sizeof(float)}));
      made = {reinterpret_cast<float*>(memory.back().data()), n};
    } else {
      made = pageable.emplace_back(n);
    }
    shiplap::parallel_for(n, 1 << 16, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i)
        made[i] = scale * (1 + static_cast<float>(i * 2654435761u % 1000) / 1000);
    });
    return made;
  }
};

Work saxpy_work(Arrays& arrays, std::size_t bytes) {
  const std::size_t n = bytes / 8;
  const auto x = arrays.make(n, 1);
  const auto y = arrays.make(n, 1);
  Work work{.items = n,
            .operands = {{x, true, false}, {y, true, true}},
            .job = shiplap::Job{n, "saxpy"}.in("x", x).inout("y", y).kernel(
                [](cudaStream_t stream, shiplap::Chunk chunk, auto x, auto y) {
                  by_hand::saxpy<<<blocks(chunk.count), 256, 0, stream>>>(chunk.count, x.data(), y.data());
                })};
  return work;
}

Work price_work(Arrays& arrays, std::size_t bytes) {
  const std::size_t n = bytes / 12;
  const auto spot = arrays.make(n, 20), strike = arrays.make(n, 20), years = arrays.make(n, 1);
  const auto call = arrays.make(n, 0), put = arrays.make(n, 0);
  return {.items = n,
          .operands = {{spot, true}, {strike, true}, {years, true}, {call, false, true}, {put, false, true}},
          .job = shiplap::Job{n, "price"}
                     .in("spot", spot)
                     .in("strike", strike)
                     .in("years", years)
                     .out("call", call)
                     .out("put", put)
                     .kernel([](cudaStream_t stream, shiplap::Chunk chunk, auto spot, auto strike, auto years,
                                auto call, auto put) {
                       price<<<blocks(chunk.count), 256, 0, stream>>>(chunk.count, spot.data(), strike.data(),
                                                                      years.data(), call.data(), put.data());
                     })};
}

Work norm_work(Arrays& arrays, std::size_t bytes) {
  const std::size_t n = bytes / 4 / row;
  const auto x = arrays.make(n * row, 1);
  const auto y = arrays.make(n * row, 0);
  return {.items = n,
          .operands = {{x, true, false, row}, {y, false, true, row}},
          .job = shiplap::Job{n, "norm"}.in("x", x).out("y", y).kernel(
              [](cudaStream_t stream, shiplap::Chunk chunk, auto x, auto y) {
                norm<<<static_cast<unsigned>(chunk.count), 256, 0, stream>>>(x.data(), y.data());
              })};
}

Work work_named(const std::string& name, Arrays& arrays, std::size_t bytes) {
  Work work = name == "saxpy"   ? saxpy_work(arrays, bytes)
              : name == "price" ? price_work(arrays, bytes)
                                : norm_work(arrays, bytes);
  return work;
}

/// The kernel on the arrays of the GPU, which are allocated here.
void place_on_gpu(const std::string& name, Work& work) {
  for (Operand& one : work.operands) one.gpu = by_hand::on_gpu<float>(one.host.size());
  const std::vector<Operand>& o = work.operands;
  const auto at = [&o](std::size_t i, const Range& range) { return o[i].gpu + range.first * o[i].per_item; };
  work.launch = [name, at](cudaStream_t stream, Range r) {
    const std::size_t count = r.end - r.first;
    if (name == "saxpy")
      by_hand::saxpy<<<blocks(count), 256, 0, stream>>>(count, at(0, r), at(1, r));
    else if (name == "price")
      price<<<blocks(count), 256, 0, stream>>>(count, at(0, r), at(1, r), at(2, r), at(3, r), at(4, r));
    else
      norm<<<static_cast<unsigned>(count), 256, 0, stream>>>(at(0, r), at(1, r));
  };
}

/// The results of a fresh run, element by element, against `expected`.
bool is_right(const Work& work, const std::vector<float>& expected) {
  std::size_t i = 0;
  for (const Operand& one : work.operands)
    if (one.out)
      for (std::size_t j = 0; j < one.host.size(); j += 97)
        if (std::abs(one.host[j] - expected[i++]) > 1e-4f * (1 + std::abs(expected[i - 1]))) return false;
  return true;
}
std::vector<float> some_results(const Work& work) {
  std::vector<float> some;
  for (const Operand& one : work.operands)
    if (one.out)
      for (std::size_t j = 0; j < one.host.size(); j += 97) some.push_back(one.host[j]);
  return some;
}

int one_case(const std::string& profile, const std::string& name, std::size_t mib, bool pinned,
             const std::string& way) {
  const auto gpu = shiplap::open("cuda:0");
  const shiplap::Node node = shiplap::node_of(*gpu, shiplap::find_profile(profile));
  check(cudaSetDevice(0));
  check(cudaFree(nullptr));
  Arrays arrays{*gpu, pinned};
  Work work = work_named(name, arrays, mib << 20);
  // What `y` of saxpy is before a run, since a run adds to it.
  const std::vector<float> before(work.operands[1].host.begin(), work.operands[1].host.end());
  const auto restore = [&] { std::ranges::copy(before, work.operands[1].host.begin()); };
  if (way == "shiplap") {
    double calls[3] = {};
    for (double& call : calls) {
      restore();
      call = by_hand::timed([&] {
        const auto plan = shiplap::plan(node, work.job, {.quick = true});
        shiplap::prepare(*gpu, plan, work.job).run();
      });
    }
    const std::vector<float> found = some_results(work);
    const auto plan = shiplap::plan(node, work.job);
    auto prepared = shiplap::prepare(*gpu, plan, work.job);
    const double kept = median_of([&] { prepared.run(); }, 9);
    restore();
    Work other = work;
    place_on_gpu(name, other);
    run_plain(other);
    std::printf("%.3f %.3f %.3f %.3f %.3f %s\n", calls[0], calls[1], calls[2], kept,
                shiplap::in_milliseconds(plan.chosen.predicted.value), is_right(other, found) ? "" : "WRONG");
    return 0;
  }
  place_on_gpu(name, work);
  if (way == "plain") {
    double calls[3] = {};
    for (double& call : calls) call = by_hand::timed([&] { run_plain(work); });
    std::printf("%.3f %.3f %.3f nan nan\n", calls[0], calls[1], calls[2]);
    return 0;
  }
  run_plain(work);
  const std::vector<float> expected = some_results(work);
  restore();
  double best = 1e30;
  by_hand::FourStreams streams;
  if (pinned) run_streams(work, streams, 16);
  for (const int size : pinned ? std::vector{8, 16, 32} : std::vector{1, 2, 4}) {
    if (pinned) {
      best = std::min(best, median_of([&] { run_streams(work, streams, size); }, 9));
      continue;
    }
    std::size_t in = 0, out = 0;  // bytes of an item
    for (const Operand& one : work.operands) {
      in += one.in ? one.per_item * sizeof(float) : 0;
      out += one.out ? one.per_item * sizeof(float) : 0;
    }
    const int chunks =
        static_cast<int>(std::max<std::size_t>(hand_threads, (mib << 20) / (std::size_t{1} << 20) / size));
    const std::size_t most = work.items / chunks + 1;
    by_hand::Rings rings(hand_threads, chunks, most * in, most * out);
    if (size == 1) {
      run_rings(work, rings, chunks);
      if (!is_right(work, expected)) std::puts("WRONG");
    }
    best = std::min(best, median_of([&] { run_rings(work, rings, chunks); }, 9));
  }
  std::printf("nan nan nan %.3f nan\n", best);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 6) return one_case(argv[1], argv[2], std::stoul(argv[3]), std::string(argv[4]) == "pinned", argv[5]);
  if (argc < 2) {
    std::fprintf(stderr, "usage: first_call PROFILE [MIB...] | first_call PROFILE JOB MIB pinned|pageable WAY\n");
    return 64;
  }
  std::vector<std::string> sizes(argv + 2, argv + argc);
  if (sizes.empty()) sizes = {"16", "256", "4096"};
  std::printf("%-6s %9s  %-8s %-8s %10s %10s %10s %10s %10s\n", "job", "input", "memory", "way", "call 1", "call 2",
              "call 3", "kept", "predicted");
  for (const std::string name : {"saxpy", "price", "norm"})
    for (const std::string& size : sizes)
      for (const std::string memory : {"pinned", "pageable"})
        for (const std::string way : {"plain", "hand", "shiplap"}) {
          const std::string command =
              "'" + std::string(argv[0]) + "' " + argv[1] + " " + name + " " + size + " " + memory + " " + way;
          FILE* const pipe = popen(command.c_str(), "r");
          char line[256] = "";
          if (pipe == nullptr || std::fgets(line, sizeof line, pipe) == nullptr) std::strcpy(line, "fails");
          if (pipe != nullptr) pclose(pipe);
          double times[5] = {};
          char note[32] = "";
          const int found =
              std::sscanf(line, "%lf %lf %lf %lf %lf %31s", times, times + 1, times + 2, times + 3, times + 4, note);
          std::printf("%-6s %5s MiB  %-8s %-8s", name.c_str(), size.c_str(), memory.c_str(), way.c_str());
          if (found < 5) std::printf(" %s", line);
          for (int i = 0; found >= 5 && i < 5; ++i)
            std::isnan(times[i]) ? std::printf(" %10s", "") : std::printf(" %10.2f", times[i]);
          std::printf("  %s\n", note);
          std::fflush(stdout);
        }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "first_call: %s\n", error.what());
  return 1;
}
