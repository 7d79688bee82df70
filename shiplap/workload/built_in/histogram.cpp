// histogram: counts each frame of 8-bit pixels in 256 bins (Gómez-Luna 2012). A block of the kernel counts a frame.
#include "shiplap/workload/built_in/histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "shiplap/workload/built_in/built_in.hpp"
#include "shiplap/workload/built_in/efficiency.hpp"
#include "shiplap/workload/built_in/frames.hpp"
#include "shiplap/workload/data.hpp"
#include "shiplap/workload/described_job.hpp"

namespace shiplap {
namespace {

// The distribution of values in a frame (Table 3 of the paper): all values equally often, a single value, or the first
// half of the frames uniform and the second half degenerate. The time depends on it, because votes for one bin collide.
enum class Values { uniform, degenerate, mixed };
constexpr std::array<std::string_view, 3> names_of_values{"uniform", "degenerate", "mixed"};

std::uint64_t uniform_frames(const Frames& frames, Values values) {
  if (values == Values::mixed) return (frames.count + 1) / 2;
  return values == Values::uniform ? frames.count : 0;
}

// The value of all pixels of a degenerate frame.
std::uint8_t only_value(std::uint64_t frame) { return static_cast<std::uint8_t>(1 + hash_of(frame, 6) % 255); }

ByteSource pixels_of(const Frames& frames, Values values) {
  return [pixels = std::uint64_t{frames.pixels()}, uniform = uniform_frames(frames, values) * frames.pixels()](
             std::uint64_t first, std::span<std::uint8_t> out) {
    if (first < uniform) {
      const auto hashed = out.first(std::min<std::uint64_t>(out.size(), uniform - first));
      hashed_bytes(first, hashed, 5);
      first += hashed.size();
      out = out.subspan(hashed.size());
    }
    while (!out.empty()) {
      const std::uint64_t frame = first / pixels;
      const auto alike = out.first(std::min<std::uint64_t>(out.size(), (frame + 1) * pixels - first));
      std::ranges::fill(alike, only_value(frame));
      first += alike.size();
      out = out.subspan(alike.size());
    }
  };
}

ProgramText program_text(const HistogramShape& shape, std::uint64_t uniform) {
  return {.kernel = kernel_text({"block_histogram", "histogram"}),
          .launch = fmt::format(
              "launch_histogram(as<std::uint8_t>({{0}}), as<std::uint32_t>({{1}}), {{items}}, {}, {}, {{blocks}}, "
              "{{stream}})",
              shape.pixels, shape.copies),
          .data = fmt::format(
              R"(constexpr std::uint64_t pixels = {};          // pixels of a frame
constexpr std::uint64_t uniform_frames = {};  // number of frames with all values equally often; others have one value
std::uint8_t initial_frames(std::uint64_t i) {{
  std::uint64_t hash = i / pixels < uniform_frames ? i : ~(i / pixels);
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
  return std::uint8_t(hash >> 56);
}}
{})",
              shape.pixels, uniform, histograms_program_data("initial_frames")),
          .arrays = {{"std::uint8_t", "initial_frames", "initial_frames"},
                     {"std::uint32_t", "initial_histograms", "expected_histograms"}}};
}

Workload histogram(Parameters& parameters, const CudaKernels& cuda) {
  const Frames frames = frames_of(parameters, "64");
  const std::size_t distribution =
      parameters.one_of("data", {names_of_values[0], names_of_values[1], names_of_values[2]});
  const std::uint64_t copies = parameters.count("copies", "32");
  if (copies > 32 || !std::has_single_bit(copies)) parameters.refuse("copies must be a power of two, 32 at most");
  const HistogramShape shape{.pixels = frames.pixels(), .copies = static_cast<std::uint32_t>(copies)};
  Workload w;
  w.job = Job{.items = frames.count,
              .name = fmt::format("histogram:frames={},width={},height={},data={},copies={}", frames.count,
                                  frames.width, frames.height, names_of_values[distribution], copies),
              .items_per_block = 1,
              .threads_per_block = 1024,
              .any_grid = true,
              .each_byte_once = true,
              .flops = static_cast<double>(frames.all_pixels()),  // a vote adds 1
              .device_traffic = Bytes{frames.all_pixels() + 1024 * frames.count},
              .efficiency = efficiency::histogram}
              .shaped<const std::uint8_t>("frames", Role::in, frames.all_pixels())
              .shaped<std::uint32_t>("histograms", Role::out, 256 * frames.count)
              .host_kernel([pixels = std::uint64_t{shape.pixels}](Chunk chunk, View<const std::uint8_t> values,
                                                                  View<std::uint32_t> histograms) {
                for (std::uint64_t f = chunk.first; f < chunk.end(); ++f) {
                  std::array<std::uint32_t, 256> bins{};
                  const std::uint8_t* const last = &values[(f + 1) * pixels - 1];
                  for (const std::uint8_t* p = &values[f * pixels]; p <= last; ++p) ++bins[*p];
                  for (std::uint64_t v = 0; v < 256; ++v) histograms[256 * f + v] = bins[v];
                }
              });
  if (cuda.histogram != nullptr) w.job.binding.cuda = cuda.histogram(shape);
  const auto values = static_cast<Values>(distribution);
  w.program = program_text(shape, uniform_frames(frames, values));
  w.fill = [source = pixels_of(frames, values)](std::span<const std::span<std::byte>> arrays) {
    generate_bytes(as_elements<std::uint8_t>(arrays[0]), source);
    std::ranges::fill(arrays[1], std::byte{0xff});  // no frame has 2^32 - 1 pixels of one value
  };
  w.verify = [frames, source = pixels_of(frames, values)](std::span<const std::span<std::byte>> arrays) -> std::string {
    const auto pixels = as_elements<std::uint8_t>(arrays[0]);
    if (const auto i = first_difference_of_bytes(pixels, source); i < pixels.size())
      return fmt::format("input frames[{}] was overwritten", i);
    return wrong_histogram(frames, source, as_elements<std::uint32_t>(arrays[1]));
  };
  return w;
}

}  // namespace

const BuiltInWorkload histogram_workload{
    .help =
        {"histogram",
         "frames=COUNT (64), width=COUNT (704), height=COUNT (576), data=uniform|degenerate|mixed, copies=COUNT (32)",
         "the histogram of every frame of 8-bit pixels; a block counts a frame in `copies` copies of its bins"},
    .make = histogram,
    .sizes = [](Bytes size) { return fmt::format("frames={}", std::max<std::uint64_t>(1, size.count / (704 * 576))); },
    .items = "frames"};

}  // namespace shiplap
