// Published figures of the report and its authors' files, for comparison. They were read from the report or from
// github.com/grafrap/HPC4WC-overlapping, commit 9d516c9, `measurements/`. Each names its run.
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

/// The largest published speed-up over one stream, and its number of streams.
struct PublishedBest {
  std::uint64_t of = 0;  ///< number of elements, calls or levels
  double speedup = 0;
  std::uint32_t streams = 0;
};
/// The entry for `of`; nullopt where there is none.
std::optional<PublishedBest> find(std::span<const PublishedBest>, std::uint64_t of);

/// Best speed-ups of one arccos call by number of elements: Fig. 1, perf_test_cuda_257136.
std::span<const PublishedBest> one_call_best();
/// Best speed-ups for 2^23 elements by number of calls: Fig. 3, perf_test_cuda_269302.
std::span<const PublishedBest> calls_best();
/// Best speed-ups for 2^29 elements by number of calls: from the file of Fig. 3, not in the report.
std::span<const PublishedBest> largest_best();
/// Best speed-ups of the stencil with 128 x 128 points and 512 steps by number of levels: Fig. 4,
/// stencil_gpu_scaling_265510.
std::span<const PublishedBest> levels_best();
/// Some of them with 32 steps.
std::span<const PublishedBest> levels_best_of_32_steps();
/// Best speed-ups of the stencil with 64 levels and 512 steps by nx = ny: stencil_gpu_scaling_265180, not in the
/// report.
std::span<const PublishedBest> squares_best();
/// Some of them with 32 steps.
std::span<const PublishedBest> squares_best_of_32_steps();

/// Times of one call in 1, 2, 32 and 256 streams, for one number of elements: Fig. 2, perf_test_cuda_257136.
struct PublishedRuntime {
  std::uint64_t elements = 0;
  std::array<std::optional<double>, 4> ms;  ///< times in ms; none where there are no more elements than streams
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

/// Times of the stencil with 128 x 128 x 8192 points and 512 steps by number of streams: stencil_gpu_scaling_265510.
std::span<const double> stencil_ms();

/// Times of the stencil in CUDA and in GT4Py as straight lines over the number of steps: Figs 6 to 8.
struct PublishedLine {
  std::uint64_t levels = 0;
  double gt4py_s_per_step = 0;       ///< slope of GT4Py, as printed
  double gt4py_s = 0;                ///< intercept; for 8192 levels about as printed, for 4096 fitted to their file
  double one_stream_s_per_step = 0;  ///< slope of CUDA in one stream, fitted to their file
  double best_s_per_step = 0;        ///< slope of CUDA in 64 streams
};
std::span<const PublishedLine> stencil_lines();
/// Time per step of GT4Py with 8 levels, fitted to their file stencil_gt4py_gpu_306785.
inline constexpr double gt4py_s_per_step_of_8_levels = 0.01129;
/// Time of GT4Py for one arccos call on 2^29 elements: timeit_gt4py_gpu_272012.
inline constexpr double gt4py_arccos_ms = 12030;

/// The kernel that was fitted together with a built-in profile of the report's machine
/// (research/eth2025.md); nullopt for every other profile.
std::optional<published_sweep::PublishedKernel> fitted_kernel(std::string_view profile);

}  // namespace shiplap::experiments::eth
