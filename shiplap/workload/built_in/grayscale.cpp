// grayscale: turns frames of red, green and blue into gray values and counts their histograms (Gómez-Luna 2012).
#include "shiplap/workload/built_in/grayscale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "shiplap/workload/built_in/built_in.hpp"
#include "shiplap/workload/built_in/efficiency.hpp"
#include "shiplap/workload/built_in/frames.hpp"
#include "shiplap/workload/data.hpp"
#include "shiplap/workload/described_job.hpp"

namespace shiplap {
namespace {

// The paper does not give its weights. These are the weights of Rec. 601 in integers, as the CUDA kernel has them.
std::uint8_t gray_of(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>((77 * rgb[0] + 150 * rgb[1] + 29 * rgb[2] + 128) >> 8);
}

void rgb_at(std::uint64_t first, std::span<std::uint8_t> out) { hashed_bytes(first, out, 7); }

void gray_at(std::uint64_t first, std::span<std::uint8_t> out) {
  std::vector<std::uint8_t> rgb(3 * out.size());
  rgb_at(3 * first, rgb);
  for (std::uint64_t i = 0; i < out.size(); ++i) out[i] = gray_of(&rgb[3 * i]);
}

// Writes values that differ from the right gray values everywhere.
void wrong_gray_at(std::uint64_t first, std::span<std::uint8_t> out) {
  gray_at(first, out);
  for (std::uint8_t& value : out) value ^= 0x80;
}

ProgramText program_text(const GrayscaleShape& shape) {
  ProgramText text{
      .kernel = kernel_text({"block_histogram", "grayscale"}),
      .launch = fmt::format(
          "launch_grayscale(as<std::uint8_t>({{0}}), as<std::uint32_t>({{1}}), {}, {{items}}, {}, {{blocks}}, "
          "{{stream}})",
          shape.keeps_gray ? "as<std::uint8_t>({2})" : "nullptr", shape.pixels),
      .data = fmt::format(
          R"(constexpr std::uint64_t pixels = {};  // pixels of a frame
std::uint8_t initial_rgb(std::uint64_t i) {{
  i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9;
  i = (i ^ i >> 27) * 0x94d049bb133111eb;
  return std::uint8_t(i >> 56);
}}
// The weights of Rec. 601 in integers, as the kernel has them.
std::uint8_t expected_gray(std::uint64_t i) {{
  return std::uint8_t((77 * initial_rgb(3 * i) + 150 * initial_rgb(3 * i + 1) + 29 * initial_rgb(3 * i + 2) + 128) >> 8);
}}
std::uint8_t initial_gray(std::uint64_t i) {{ return std::uint8_t(~expected_gray(i)); }}  // must be overwritten
{})",
          shape.pixels, histograms_program_data("expected_gray")),
      .arrays = {{"std::uint8_t", "initial_rgb", "initial_rgb"},
                 {"std::uint32_t", "initial_histograms", "expected_histograms"}}};
  if (shape.keeps_gray) text.arrays.push_back({"std::uint8_t", "initial_gray", "expected_gray"});
  return text;
}

// Counts the gray values of the frames of a chunk. `put` receives the index and the gray value of each pixel.
template <class Put>
void count_grays(Chunk chunk, std::uint64_t pixels, View<const std::uint8_t> rgb, View<std::uint32_t> histograms,
                 const Put& put) {
  for (std::uint64_t f = chunk.first; f < chunk.end(); ++f) {
    std::array<std::uint32_t, 256> bins{};
    const std::uint8_t* const last = &rgb[3 * (f + 1) * pixels - 1] - 2;
    std::uint64_t pixel = f * pixels;
    for (const std::uint8_t* p = &rgb[3 * f * pixels]; p <= last; p += 3) {
      const std::uint8_t gray = gray_of(p);
      ++bins[gray];
      put(pixel++, gray);
    }
    for (std::uint64_t v = 0; v < 256; ++v) histograms[256 * f + v] = bins[v];
  }
}

Workload grayscale(Parameters& parameters, const CudaKernels& cuda) {
  const Frames frames = frames_of(parameters, "32");
  const bool keeps_gray = parameters.one_of("output", {"histogram", "both"}) == 1;
  const GrayscaleShape shape{.pixels = frames.pixels(), .keeps_gray = keeps_gray};
  const std::uint64_t pixels = frames.all_pixels();
  Workload w;
  const auto described = Job{.items = frames.count,
                             .name = fmt::format("grayscale:frames={},width={},height={},output={}", frames.count,
                                                 frames.width, frames.height, keeps_gray ? "both" : "histogram"),
                             .items_per_block = 1,
                             .threads_per_block = 1024,
                             .any_grid = true,
                             .each_byte_once = true,
                             // A pixel takes three products, three sums and one vote.
                             .flops = 7.0 * static_cast<double>(pixels),
                             .device_traffic = Bytes{3 * pixels + 1024 * frames.count + (keeps_gray ? pixels : 0)},
                             .efficiency = efficiency::grayscale}
                             .shaped<const std::uint8_t>("rgb", Role::in, 3 * pixels)
                             .shaped<std::uint32_t>("histograms", Role::out, 256 * frames.count);
  if (keeps_gray)
    w.job = described.shaped<std::uint8_t>("gray", Role::out, pixels)
                .host_kernel([of_frame = std::uint64_t{shape.pixels}](Chunk chunk, View<const std::uint8_t> rgb,
                                                                      View<std::uint32_t> histograms,
                                                                      View<std::uint8_t> gray) {
                  count_grays(chunk, of_frame, rgb, histograms,
                              [&](std::uint64_t pixel, std::uint8_t value) { gray[pixel] = value; });
                });
  else
    w.job = described.host_kernel([of_frame = std::uint64_t{shape.pixels}](Chunk chunk, View<const std::uint8_t> rgb,
                                                                           View<std::uint32_t> histograms) {
      count_grays(chunk, of_frame, rgb, histograms, [](std::uint64_t, std::uint8_t) {});
    });
  if (cuda.grayscale != nullptr) w.job.binding.cuda = cuda.grayscale(shape);
  w.program = program_text(shape);
  w.fill = [](std::span<const std::span<std::byte>> arrays) {
    generate_bytes(as_elements<std::uint8_t>(arrays[0]), rgb_at);
    std::ranges::fill(arrays[1], std::byte{0xff});  // no frame has 2^32 - 1 pixels of one value
    if (arrays.size() > 2) generate_bytes(as_elements<std::uint8_t>(arrays[2]), wrong_gray_at);
  };
  w.verify = [frames](std::span<const std::span<std::byte>> arrays) -> std::string {
    const auto rgb = as_elements<std::uint8_t>(arrays[0]);
    if (const auto i = first_difference_of_bytes(rgb, rgb_at); i < rgb.size())
      return fmt::format("input rgb[{}] was overwritten", i);
    if (std::string wrong = wrong_histogram(frames, gray_at, as_elements<std::uint32_t>(arrays[1])); !wrong.empty())
      return wrong;
    if (arrays.size() == 2) return "";
    const auto gray = as_elements<std::uint8_t>(arrays[2]);
    if (const auto i = first_difference_of_bytes(gray, gray_at); i < gray.size())
      return fmt::format("gray[{}] is wrong: {}", i, gray[i]);
    return "";
  };
  return w;
}

}  // namespace

const BuiltInWorkload grayscale_workload{
    .help = {"grayscale", "frames=COUNT (32), width=COUNT (704), height=COUNT (576), output=histogram|both",
             "frames of RGB turned gray, and the histograms of their gray values"},
    .make = grayscale,
    .sizes =
        [](Bytes size) { return fmt::format("frames={}", std::max<std::uint64_t>(1, size.count / (3 * 704 * 576))); },
    .items = "frames"};

}  // namespace shiplap
