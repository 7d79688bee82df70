// An endless input of frames whose cost changes. Batches of frames go through a kernel that takes longer for some
// frames than for others, and the number of chunks adapts.
//   adaptive_frames [DEVICE [FRAMES [WIDTH [HEIGHT]]]]
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>

#include "shiplap/pipeline/adaptive.hpp"
#include "shiplap/shiplap.hpp"

namespace {

constexpr std::uint64_t frames_of_batch = 32;
constexpr unsigned block = 256;

/// The number of times that the kernel goes over a frame, which is the value of the frame's first pixel.
SHIPLAP_HOST_DEVICE unsigned rounds_of(std::uint8_t first_pixel) { return first_pixel; }
SHIPLAP_HOST_DEVICE std::uint32_t mixed(std::uint32_t value) { return (value ^ (value >> 7)) * 0x9e3779b1u + 1; }

#ifdef __CUDACC__
/// Each block computes the digest of one frame.
__global__ void digest(shiplap::Chunk chunk, std::uint64_t pixels, shiplap::View<const std::uint8_t> frames,
                       shiplap::View<std::uint32_t> digests) {
  const std::uint64_t frame = chunk.first + blockIdx.x;
  const unsigned rounds = rounds_of(frames[frame * pixels]);
  std::uint32_t sum = 0;
  for (std::uint64_t p = threadIdx.x; p < pixels; p += block) {
    std::uint32_t value = frames[frame * pixels + p];
    for (unsigned r = 0; r < rounds; ++r) value = mixed(value);
    sum += value;
  }
  __shared__ std::uint32_t sums[block];
  sums[threadIdx.x] = sum;
  for (unsigned half = block / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) digests[frame] = sums[0];
}
#endif

std::uint32_t digest_of(std::span<const std::uint8_t> frame) {
  std::uint32_t sum = 0;
  for (const std::uint8_t pixel : frame) {
    std::uint32_t value = pixel;
    for (unsigned r = 0; r < rounds_of(frame[0]); ++r) value = mixed(value);
    sum += value;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string device = argc > 1 ? argv[1] : shiplap::default_device();
  const std::uint64_t frames = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 4096;
  const std::uint64_t pixels =
      (argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 176) * (argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 144);
  const auto gpu = shiplap::open(device);
  const auto node = shiplap::load_or_measure(*gpu);

  // The job over one batch. Only the shapes of its arrays are given, because every batch has other arrays.
  const auto job =
      shiplap::Job{frames_of_batch, "frames"}
          .shaped<const std::uint8_t>("frames", shiplap::Role::in, frames_of_batch * pixels)
          .shaped<std::uint32_t>("digests", shiplap::Role::out, frames_of_batch)
          .with_blocks(1, block)
#ifdef __CUDACC__
          .kernel([=](cudaStream_t stream, shiplap::Chunk chunk, auto frames, auto digests) {
            digest<<<static_cast<unsigned>(chunk.count), block, 0, stream>>>(chunk, pixels, frames, digests);
          })
#endif
          .host_kernel([=](shiplap::Chunk chunk, auto frames, auto digests) {
            for (std::uint64_t f = chunk.first; f < chunk.end(); ++f)
              digests[f] = digest_of(std::span(&frames[f * pixels], pixels));
          });
  // The kernel is timed on these frames, which are like those that will come.
  shiplap::Adaptive stream(node, job, {.sample = [&](std::span<const std::span<std::byte>> arrays) {
                             for (std::uint64_t f = 0; f < frames_of_batch; ++f) arrays[0][f * pixels] = std::byte{2};
                           }});

  // Every 16 batches the frames change between few and many rounds. The source writes each batch into pinned arrays.
  const auto rounds_in = [](std::uint64_t batch) -> std::uint8_t { return batch / 16 % 2 == 0 ? 2 : 20; };
  const auto source = [&](shiplap::Batch& batch) {
    if (batch.number * frames_of_batch >= frames) return false;
    auto* const pixel = reinterpret_cast<std::uint8_t*>(batch.arrays[0].data());
    for (std::uint64_t f = 0; f < frames_of_batch; ++f) {
      pixel[f * pixels] = rounds_in(batch.number);
      pixel[f * pixels + 1] = static_cast<std::uint8_t>(batch.number + f);
    }
    return true;
  };
  std::uint64_t wrong = 0;
  const auto sink = [&](const shiplap::Batch& batch) {
    const auto* const pixel = reinterpret_cast<const std::uint8_t*>(batch.arrays[0].data());
    const auto* const digests = reinterpret_cast<const std::uint32_t*>(batch.arrays[1].data());
    const std::uint64_t f = batch.number % frames_of_batch;  // one frame is checked, because checking all takes long
    wrong += digests[f] != digest_of({pixel + f * pixels, pixels});
  };
  const auto report = stream.run(source, sink, [&](const shiplap::Adaptive::Progress& progress) {
    if (progress.decision != nullptr && progress.decision->from != progress.decision->to)
      std::cout << "after batch " << progress.decision->after << ": " << progress.decision->reason << "; from now on "
                << shiplap::to_string(stream.table().choices[progress.decision->to]) << '\n';
  });
  std::cout << report.items << " frames, " << report.rate() << " each second, " << report.changes
            << " changes of the number of chunks\n";
  if (wrong > 0) std::cerr << wrong << " digests are wrong\n";
  return wrong == 0 ? 0 : 2;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
