// Compares one GPU of a node with all of them.
#include <algorithm>
#include <functional>

#include "bench/by_hand/kernels.cuh"
#include "bench/by_hand/pipelines.cuh"
#include "bench/by_hand/setting.cuh"

namespace by_hand {
namespace {

/// Runs the same job on the first GPU and on all GPUs of the device, alternately.
Comparison shared(const Setting& s, const std::string& name, const shiplap::Job& job,
                  const std::function<bool()>& is_right) {
  Comparison result{.name = name};
  const auto gpus = s.gpu.info().gpus;
  const auto one = shiplap::plan(s.node, job);
  const auto all = shiplap::plan(s.node, job, {.space = {.gpus = gpus}});
  auto on_one = shiplap::prepare(s.gpu, one, job);
  auto on_all = shiplap::prepare(s.gpu, all, job);
  note(result, all);
  compare(result, planned(one, on_one), planned(all, on_all), rounds);
  for (const shiplap::Array& array : job.arrays)
    if (is_output(array.role)) std::fill_n(array.data, array.size.count, std::byte{0});
  on_all.run();
  result.right = is_right();
  return result;
}

}  // namespace

std::vector<Comparison> several_gpus(const Setting& s) {
  const auto n = static_cast<std::size_t>(s.scale * (2ull << 30)) / sizeof(uint4);
  const Pinned<uint4> in(s.gpu, n);
  const Pinned<uint4> out(s.gpu, n);
  const Pinned<std::uint32_t> sums(s.gpu, n / 16);
  number(in.elements);
  const auto summing = shiplap::Job{n / 16, "sum of 16"}
                           .in("in", in.elements)
                           .out("sums", sums.elements)
                           .kernel([](cudaStream_t stream, Chunk chunk, auto in, auto sums) {
                             sum_of_16<<<blocks(chunk.count), 256, 0, stream>>>(chunk.count, in.data(), sums.data());
                           });
  std::vector<Comparison> results;
  results.push_back(shared(s, "to the GPUs, one against all", summing, [&] {
    for (std::size_t i = 0; i < n / 16; i += 61) {
      std::uint32_t sum = 0;
      for (std::size_t k = 16 * i; k < 16 * i + 16; ++k)
        sum += in.elements[k].x + in.elements[k].y + in.elements[k].z + in.elements[k].w;
      if (sums.elements[i] != sum) return false;
    }
    return true;
  }));
  results.push_back(shared(s, "duplex, one GPU against all", mix_job(in.elements, out.elements),
                           [&] { return mixed_right(out.elements); }));
  return results;
}

}  // namespace by_hand
