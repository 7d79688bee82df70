// An engineer of a detector: counts bright pixels in frames that never end, until the shutter closes.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <shiplap/pipeline/adaptive.hpp>
#include <shiplap/shiplap.hpp>
#include <span>
#include <string>
#include <vector>

constexpr std::uint64_t frames = 64, pixels = 4096, batches = 40;

std::uint8_t pixel_of(std::uint64_t batch, std::uint64_t i) {
  return static_cast<std::uint8_t>(i * 31 + batch * 17 + i / pixels);
}

int main(int argc, char** argv) {
  const std::string device = argc > 1 ? argv[1] : "virtual:h200";
  const auto gpu = shiplap::open(device);
  const auto node = shiplap::load_or_measure(*gpu);
  const auto job = shiplap::Job{frames, "bright-pixels"}
                       .shaped<const std::uint8_t>("frames", shiplap::Role::in, frames * pixels)
                       .shaped<std::uint32_t>("bright", shiplap::Role::out, frames)
                       .host_kernel([](shiplap::Chunk chunk, auto in, auto bright) {
                         for (std::uint64_t f = chunk.first; f < chunk.end(); ++f) {
                           bright[f] = 0;
                           for (std::uint64_t p = f * pixels; p < (f + 1) * pixels; ++p) bright[f] += in[p] > 200;
                         }
                       });
  shiplap::Adaptive adaptive(node, job, {.in_flight = 3});
  std::vector<std::string> log;
  adaptive.log_to([&](const auto& line) { log.emplace_back(line); });

  std::uint64_t expected_next = 0, wrong = 0;
  const auto camera = [&](shiplap::Batch& batch) {
    if (batch.number == batches) return false;
    const std::span<std::byte> in = batch.arrays[0];
    for (std::uint64_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>(pixel_of(batch.number, i));
    return true;
  };
  const auto counter = [&](const shiplap::Batch& batch) {
    wrong += batch.number != expected_next++;
    const auto* bright = reinterpret_cast<const std::uint32_t*>(batch.arrays[1].data());
    for (std::uint64_t f = 0; f < frames; ++f) {
      std::uint32_t count = 0;
      for (std::uint64_t p = 0; p < pixels; ++p) count += pixel_of(batch.number, f * pixels + p) > 200;
      wrong += bright[f] != count;
    }
  };
  const auto report = adaptive.run(camera, counter);

  std::uint64_t counted = 0;
  for (const auto n : report.batches_of_choice) counted += n;
  if (wrong != 0 || report.batches != batches || report.items != batches * frames || counted != batches ||
      expected_next != batches) {
    std::cerr << wrong << " wrong results in " << report.batches << " batches\n";
    return 1;
  }
  if (log.size() < batches) return 1;  // the log has every observation
  std::cout << report.batches << " batches, " << report.rate() << " frames per second, " << report.changes
            << " changes of the choice, " << log.size() << " lines of log\n";
}
