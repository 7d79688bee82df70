#include "experiments/eth2025/published.hpp"

#include <algorithm>

namespace shiplap::experiments::eth {
namespace {

constexpr std::array<PublishedBest, 6> of_one_call{{{power(19), 1.049, 2},
                                                    {power(21), 1.134, 2},
                                                    {power(23), 1.338, 4},
                                                    {power(25), 1.543, 16},
                                                    {power(27), 1.703, 16},
                                                    {power(29), 1.766, 32}}};
constexpr std::array<PublishedBest, 10> of_calls{{{1, 1.340, 4},
                                                  {2, 1.364, 4},
                                                  {4, 1.398, 4},
                                                  {8, 1.488, 4},
                                                  {16, 1.753, 8},
                                                  {32, 2.008, 16},
                                                  {64, 1.701, 64},
                                                  {128, 1.374, 64},
                                                  {256, 1.196, 64},
                                                  {512, 1.106, 128}}};
constexpr std::array<PublishedBest, 9> of_the_largest{{{1, 1.814, 32},
                                                       {2, 1.842, 32},
                                                       {4, 1.897, 32},
                                                       {8, 2.019, 32},
                                                       {16, 2.281, 32},
                                                       {32, 2.499, 256},
                                                       {64, 1.773, 512},
                                                       {128, 1.389, 512},
                                                       {256, 1.193, 512}}};
constexpr std::array<PublishedBest, 14> of_levels{{{8, 1.096, 4},
                                                   {16, 1.212, 4},
                                                   {32, 1.292, 8},
                                                   {64, 1.575, 4},
                                                   {128, 1.548, 16},
                                                   {256, 1.616, 16},
                                                   {512, 1.689, 32},
                                                   {1024, 1.739, 32},
                                                   {2048, 1.772, 64},
                                                   {4096, 1.862, 64},
                                                   {8192, 1.886, 128},
                                                   {16384, 1.900, 128},
                                                   {32768, 1.829, 256},
                                                   {65536, 1.831, 128}}};
constexpr std::array<PublishedBest, 3> of_levels_32{{{8192, 1.707, 64}, {32768, 1.695, 64}, {65536, 1.644, 128}}};
constexpr std::array<PublishedBest, 8> of_squares{{{8, 1.320, 8},
                                                   {16, 1.344, 8},
                                                   {32, 1.325, 8},
                                                   {64, 1.454, 8},
                                                   {128, 1.424, 8},
                                                   {256, 1.592, 16},
                                                   {512, 1.566, 32},
                                                   {1024, 1.158, 64}}};
constexpr std::array<PublishedBest, 2> of_squares_32{{{2048, 1.028, 8}, {4096, 1.008, 8}}};

constexpr auto none = std::nullopt;
const std::array<PublishedRuntime, 14> of_runtimes{{{power(3), {0.03776, 0.04160, none, none}},
                                                    {power(5), {0.03837, 0.04212, 0.1968, none}},
                                                    {power(7), {0.03649, 0.04156, 0.1949, none}},
                                                    {power(9), {0.03780, 0.04172, 0.1930, 1.341}},
                                                    {power(11), {0.03787, 0.04164, 0.1935, 1.340}},
                                                    {power(13), {0.03691, 0.04344, 0.1987, 1.346}},
                                                    {power(15), {0.03910, 0.04966, 0.2004, 1.328}},
                                                    {power(17), {0.05366, 0.05789, 0.2292, 1.423}},
                                                    {power(19), {0.09219, 0.08790, 0.2240, 1.494}},
                                                    {power(21), {0.2337, 0.2060, 0.2991, 1.451}},
                                                    {power(23), {0.8360, 0.6691, 0.7586, 1.535}},
                                                    {power(25), {3.231, 2.496, 2.275, 3.378}},
                                                    {power(27), {12.64, 9.646, 7.472, 10.13}},
                                                    {power(29), {50.28, 38.27, 28.48, 30.32}}}};

constexpr std::array<PublishedSweep, 4> of_sweeps{
    {{1, power(23), {0.8135, 0.6454, 0.6072, 0.6175, 0.6260, 0.7452, 0.8334, 1.0088, 1.4314, 2.8166}},
     {32, power(23), {1.3111, 0.9331, 0.7507, 0.6913, 0.6529, 0.7548, 0.8331, 1.0077, 1.4506, 2.7797}},
     {1, power(29), {50.5311, 38.3806, 32.5230, 29.6948, 28.3107, 27.8606, 28.1670, 29.1032, 29.8853, 31.6290}},
     {32, power(29), {80.2945, 56.0389, 44.1768, 37.9537, 33.2629, 33.6011, 32.7917, 32.4749, 32.1311, 32.7492}}}};

constexpr std::array<double, 9> of_stencil{14160, 12410, 9532, 8446, 7989, 7714, 7551, 7505, 7764};

constexpr std::array<PublishedLine, 2> of_lines{
    {{4096, 0.01166, 0.174, 0.01382, 0.00744}, {8192, 0.01183, 4, 0.02652, 0.01461}}};

}  // namespace

std::optional<PublishedBest> find(std::span<const PublishedBest> among, std::uint64_t of) {
  const auto found = std::ranges::find(among, of, &PublishedBest::of);
  return found == among.end() ? std::nullopt : std::optional(*found);
}

std::span<const PublishedBest> one_call_best() { return of_one_call; }
std::span<const PublishedBest> calls_best() { return of_calls; }
std::span<const PublishedBest> largest_best() { return of_the_largest; }
std::span<const PublishedBest> levels_best() { return of_levels; }
std::span<const PublishedBest> levels_best_of_32_steps() { return of_levels_32; }
std::span<const PublishedBest> squares_best() { return of_squares; }
std::span<const PublishedBest> squares_best_of_32_steps() { return of_squares_32; }
std::span<const PublishedRuntime> runtimes() { return of_runtimes; }
std::span<const PublishedSweep> sweeps() { return of_sweeps; }
std::span<const double> stencil_ms() { return of_stencil; }
std::span<const PublishedLine> stencil_lines() { return of_lines; }

std::optional<published_sweep::PublishedKernel> fitted_kernel(std::string_view profile) {
  const auto kernel = [](double latency_us, double element_ps, double call_ps) {
    const auto exactly = [](double seconds) { return Interval<Seconds>::exact(Seconds{seconds}); };
    return published_sweep::PublishedKernel{.latency_per_call = exactly(latency_us * 1e-6),
                                            .per_element = exactly(element_ps * 1e-12),
                                            .per_element_and_call = exactly(call_ps * 1e-12)};
  };
  if (profile == "gh200-2025-269302") return kernel(0.1178, 1.14, 1.84);
  if (profile == "gh200-2025-258389") return kernel(0.0542, 0.873, 0.8);
  return std::nullopt;
}

}  // namespace shiplap::experiments::eth
