// What the report and its authors' files say, to be set beside what is found here. Figures are facts read off the
// report or off github.com/grafrap/HPC4WC-overlapping, commit 9d516c9, `measurements/`; each says of which run it is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "experiments/published_sweep/fit.hpp"

namespace shiplap::experiments::eth {

constexpr std::uint64_t power(unsigned of_two) { return std::uint64_t{1} << of_two; }

/// Numbers of streams of the arccos sweeps.
inline constexpr std::array<std::uint32_t, 10> arccos_streams{1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
/// Numbers of streams of the stencil's sweeps.
inline constexpr std::array<std::uint32_t, 9> stencil_streams{1, 2, 4, 8, 16, 32, 64, 128, 256};

/// The largest speed-up over one stream, and where it is.
struct PublishedBest {
  std::uint64_t of = 0;  ///< elements, calls, or levels
  double speedup = 0;
  std::uint32_t streams = 0;
};
/// The entry of `of`; nullopt where there is none.
std::optional<PublishedBest> find(std::span<const PublishedBest>, std::uint64_t of);

/// One arccos call by number of elements: Fig. 1, perf_test_cuda_257136.
std::span<const PublishedBest> one_call_best();
/// 2^23 elements by number of calls: Fig. 3, perf_test_cuda_269302.
std::span<const PublishedBest> calls_best();
/// 2^29 elements by number of calls: in the same file as Fig. 3, not in the report.
std::span<const PublishedBest> largest_best();
/// The stencil of 128 x 128 points and 512 steps by number of levels: Fig. 4, stencil_gpu_scaling_265510.
std::span<const PublishedBest> levels_best();
/// Some of them with 32 steps.
std::span<const PublishedBest> levels_best_of_32_steps();
/// The stencil of 64 levels by nx = ny, 512 steps: stencil_gpu_scaling_265180, not in the report.
std::span<const PublishedBest> squares_best();
/// Some of them with 32 steps.
std::span<const PublishedBest> squares_best_of_32_steps();

/// Times of one call and so many elements in 1, 2, 32 and 256 streams: Fig. 2, perf_test_cuda_257136.
struct PublishedRuntime {
  std::uint64_t elements = 0;
  std::array<std::optional<double>, 4> ms;  ///< none where there are no more elements than streams
};
inline constexpr std::array<std::uint32_t, 4> runtime_streams{1, 2, 32, 256};
std::span<const PublishedRuntime> runtimes();

/// Times by number of streams, in the order of `arccos_streams`: perf_test_cuda_269302.
struct PublishedSweep {
  std::uint32_t calls = 0;
  std::uint64_t elements = 0;
  std::array<double, 10> ms{};
};
std::span<const PublishedSweep> sweeps();

/// The stencil of 128 x 128 x 8192 and 512 steps by number of streams: stencil_gpu_scaling_265510.
std::span<const double> stencil_ms();

/// The stencil in CUDA and in GT4Py by number of steps, as straight lines: Figs 6 to 8.
struct PublishedLine {
  std::uint64_t levels = 0;
  double gt4py_s_per_step = 0;  ///< as printed
  double gt4py_s = 0;  ///< where the line begins: of 8192 levels as printed (about), of 4096 fitted to their file
  double one_stream_s_per_step = 0;  ///< CUDA, fitted to their file
  double best_s_per_step = 0;        ///< CUDA in 64 streams
};
std::span<const PublishedLine> stencil_lines();
/// GT4Py with 8 levels, fitted to their file stencil_gt4py_gpu_306785.
inline constexpr double gt4py_s_per_step_of_8_levels = 0.01129;
/// GT4Py, one arccos call on 2^29 elements: timeit_gt4py_gpu_272012.
inline constexpr double gt4py_arccos_ms = 12030;

/// The kernel that was fitted together with a built-in profile of the report's machine (docs/reproductions/eth2025.md);
/// nullopt for every other profile.
std::optional<published_sweep::PublishedKernel> fitted_kernel(std::string_view profile);

}  // namespace shiplap::experiments::eth
