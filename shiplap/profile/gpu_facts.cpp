#include "shiplap/profile/gpu_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace shiplap {
namespace {

constexpr std::string_view pcie3 = "8.0 GT/s PCIe x16";
constexpr std::string_view pcie4 = "16.0 GT/s PCIe x16";
constexpr std::string_view pcie4_x8 = "16.0 GT/s PCIe x8";
constexpr std::string_view pcie5 = "32.0 GT/s PCIe x16";
constexpr std::string_view pcie5_x8 = "32.0 GT/s PCIe x8";

/// NVIDIA's data sheets and architecture whitepapers.
constexpr std::array published_gpus{PublishedGpu{"T4", 16, 40, 320, 8.1, 1024, pcie3},
                                    PublishedGpu{"P4", 8, 20, 192, 5.5, 2048, pcie3},
                                    PublishedGpu{"P40", 24, 30, 346, 11.8, 2048, pcie3},
                                    PublishedGpu{"P100 PCIE", 16, 56, 732, 9.3, 2048, pcie3},
                                    PublishedGpu{"V100 SXM2 16GB", 16, 80, 900, 15.7, 2048, pcie3},
                                    PublishedGpu{"V100 SXM2 32GB", 32, 80, 900, 15.7, 2048, pcie3},
                                    PublishedGpu{"V100 PCIE 16GB", 16, 80, 900, 14, 2048, pcie3},
                                    PublishedGpu{"V100 PCIE 32GB", 32, 80, 900, 14, 2048, pcie3},
                                    PublishedGpu{"A2", 16, 10, 200, 4.5, 1536, pcie4_x8},
                                    PublishedGpu{"A10", 24, 72, 600, 31.2, 1536, pcie4},
                                    PublishedGpu{"A30", 24, 56, 933, 10.3, 2048, pcie4},
                                    PublishedGpu{"A40", 48, 84, 696, 37.4, 1536, pcie4},
                                    PublishedGpu{"A100 SXM4 40GB", 40, 108, 1555, 19.5, 2048, pcie4},
                                    PublishedGpu{"A100 SXM4 80GB", 80, 108, 2039, 19.5, 2048, pcie4},
                                    PublishedGpu{"A100 PCIE 40GB", 40, 108, 1555, 19.5, 2048, pcie4},
                                    PublishedGpu{"A100 80GB PCIe", 80, 108, 1935, 19.5, 2048, pcie4},
                                    PublishedGpu{"L4", 24, 58, 300, 30.3, 1536, pcie4},
                                    PublishedGpu{"L40", 48, 142, 864, 90.5, 1536, pcie4},
                                    PublishedGpu{"L40S", 48, 142, 864, 91.6, 1536, pcie4},
                                    PublishedGpu{"GTX 1080 Ti", 11, 28, 484, 11.3, 2048, pcie3},
                                    PublishedGpu{"RTX 2060", 6, 30, 336, 6.5, 1024, pcie3},
                                    PublishedGpu{"RTX 2060 SUPER", 8, 34, 448, 7.2, 1024, pcie3},
                                    PublishedGpu{"RTX 2070", 8, 36, 448, 7.5, 1024, pcie3},
                                    PublishedGpu{"RTX 2070 SUPER", 8, 40, 448, 9.1, 1024, pcie3},
                                    PublishedGpu{"RTX 2080", 8, 46, 448, 10.1, 1024, pcie3},
                                    PublishedGpu{"RTX 2080 SUPER", 8, 48, 496, 11.2, 1024, pcie3},
                                    PublishedGpu{"RTX 2080 Ti", 11, 68, 616, 13.4, 1024, pcie3},
                                    PublishedGpu{"TITAN RTX", 24, 72, 672, 16.3, 1024, pcie3},
                                    PublishedGpu{"Quadro RTX 6000", 24, 72, 672, 16.3, 1024, pcie3},
                                    PublishedGpu{"Quadro RTX 8000", 48, 72, 672, 16.3, 1024, pcie3},
                                    PublishedGpu{"RTX 3060", 12, 28, 360, 12.7, 1536, pcie4},
                                    PublishedGpu{"RTX 3060 Ti", 8, 38, 448, 16.2, 1536, pcie4},
                                    PublishedGpu{"RTX 3070", 8, 46, 448, 20.3, 1536, pcie4},
                                    PublishedGpu{"RTX 3070 Ti", 8, 48, 608, 21.7, 1536, pcie4},
                                    PublishedGpu{"RTX 3080", 10, 68, 760, 29.8, 1536, pcie4},
                                    PublishedGpu{"RTX 3080 Ti", 12, 80, 912, 34.1, 1536, pcie4},
                                    PublishedGpu{"RTX 3090", 24, 82, 936, 35.6, 1536, pcie4},
                                    PublishedGpu{"RTX 3090 Ti", 24, 84, 1008, 40, 1536, pcie4},
                                    PublishedGpu{"RTX 4060", 8, 24, 272, 15.1, 1536, pcie4_x8},
                                    PublishedGpu{"RTX 4060 Ti", 8, 34, 288, 22.1, 1536, pcie4_x8},
                                    PublishedGpu{"RTX 4070", 12, 46, 504, 29.1, 1536, pcie4},
                                    PublishedGpu{"RTX 4070 SUPER", 12, 56, 504, 35.5, 1536, pcie4},
                                    PublishedGpu{"RTX 4070 Ti", 12, 60, 504, 40.1, 1536, pcie4},
                                    PublishedGpu{"RTX 4070 Ti SUPER", 16, 66, 672, 44.1, 1536, pcie4},
                                    PublishedGpu{"RTX 4080", 16, 76, 717, 48.7, 1536, pcie4},
                                    PublishedGpu{"RTX 4080 SUPER", 16, 80, 736, 52.2, 1536, pcie4},
                                    PublishedGpu{"RTX 4090", 24, 128, 1008, 82.6, 1536, pcie4},
                                    PublishedGpu{"RTX 5060", 8, 30, 448, 19.2, 1536, pcie5_x8},
                                    PublishedGpu{"RTX 5060 Ti", 16, 36, 448, 23.7, 1536, pcie5_x8},
                                    PublishedGpu{"RTX 5070", 12, 48, 672, 30.9, 1536, pcie5},
                                    PublishedGpu{"RTX 5070 Ti", 16, 70, 896, 43.9, 1536, pcie5},
                                    PublishedGpu{"RTX 5080", 16, 84, 960, 56.3, 1536, pcie5},
                                    PublishedGpu{"RTX 5090", 32, 170, 1792, 104.8, 1536, pcie5},
                                    PublishedGpu{"RTX A2000", 12, 26, 288, 8, 1536, pcie4},
                                    PublishedGpu{"RTX A4000", 16, 48, 448, 19.2, 1536, pcie4},
                                    PublishedGpu{"RTX A4500", 20, 56, 640, 23.7, 1536, pcie4},
                                    PublishedGpu{"RTX A5000", 24, 64, 768, 27.8, 1536, pcie4},
                                    PublishedGpu{"RTX A5500", 24, 80, 768, 34.1, 1536, pcie4},
                                    PublishedGpu{"RTX A6000", 48, 84, 768, 38.7, 1536, pcie4},
                                    PublishedGpu{"RTX 4000 Ada", 20, 48, 360, 26.7, 1536, pcie4},
                                    PublishedGpu{"RTX 5000 Ada", 32, 100, 576, 65.3, 1536, pcie4},
                                    PublishedGpu{"RTX 6000 Ada", 48, 142, 960, 91.1, 1536, pcie4},
                                    PublishedGpu{"RTX PRO 6000 Blackwell", 96, 188, 1792, 125, 1536, pcie5},
                                    PublishedGpu{"H20", 96, 78, 4000, 44, 2048, pcie5},
                                    PublishedGpu{"H100 PCIe", 80, 114, 2000, 51, 2048, pcie5},
                                    PublishedGpu{"H100 HBM3", 80, 132, 3350, 67, 2048, pcie5},
                                    PublishedGpu{"H100 NVL", 94, 132, 3938, 60, 2048, pcie5},
                                    PublishedGpu{"H200 NVL", 141, 132, 4800, 60, 2048, pcie5},
                                    PublishedGpu{"H200", 141, 132, 4800, 67, 2048, pcie5},
                                    PublishedGpu{"GH200", 96, 132, 4000, 67, 2048, ""},
                                    PublishedGpu{"B200", 180, 148, 8000, 80, 2048, pcie5}};

/// Words that the names of a GPU may have beside those of the table: vendor, family, form. Any other makes it another
/// GPU, or no name of a GPU.
constexpr std::array usual_words{"nvidia", "geforce", "tesla", "gpu",    "generation",  "blackwell", "pcie",
                                 "sxm",    "sxm2",    "sxm3",  "sxm4",   "sxm5",        "hbm2",      "hbm2e",
                                 "hbm3",   "hbm3e",   "ada",   "quadro", "workstation", "edition",   "derived"};

std::vector<std::string> words_of_name(std::string_view name) {
  std::vector<std::string> words;
  const std::string text = kebab_case(name);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('-', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

bool has_word(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

std::optional<PublishedGpu> find_published_gpu(std::string_view name) {
  const std::vector<std::string> words = words_of_name(name);
  for (const PublishedGpu& gpu : published_gpus) {
    const std::vector<std::string> wanted = words_of_name(gpu.name);
    const bool has_all = std::ranges::all_of(wanted, [&](const std::string& word) { return has_word(words, word); });
    const std::string memory = fmt::format("{}gb", gpu.memory_gb);
    const bool has_no_more = std::ranges::all_of(words, [&](const std::string& word) {
      return has_word(wanted, word) || word == memory || std::ranges::find(usual_words, word) != usual_words.end();
    });
    if (has_all && has_no_more) return gpu;
  }
  return std::nullopt;
}

GpuModel gpu_model(const PublishedGpu& gpu, std::string_view name) {
  /// The fraction of the theoretical rate of the memory that SAXPY reached on a Tesla M2050 (M. Harris, NVIDIA
  /// Developer Blog 2012), as in the built-in profiles of published machines.
  constexpr double reached = 0.7437;
  const Bandwidth memory = gigabytes_per_second(gpu.memory_bandwidth_gb_s);
  GpuModel model;
  model.name = name;
  model.memory = Bytes{std::uint64_t{gpu.memory_gb} * 1'000'000'000};
  model.sm_count = gpu.sm_count;
  model.resident_threads = Interval<double>::exact(1.0 * gpu.sm_count * gpu.threads_per_sm);
  model.memory_bandwidth = {memory, {memory.bytes_per_second * reached}, memory};
  model.flop_rate = Interval<double>::exact(gpu.fp32_tflop_s * 1e12);
  return model;
}

std::vector<std::string> published_gpu_names() {
  std::vector<std::string> names;
  for (const PublishedGpu& gpu : published_gpus)
    if (!gpu.link.empty()) names.emplace_back(gpu.name);
  return names;
}

}  // namespace shiplap
