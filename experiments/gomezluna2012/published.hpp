// Published values of Gómez-Luna et al. 2012, from captions, tables and text.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace shiplap::experiments::gomez_luna {

/// Lowest and highest of several figures.
struct Range {
  double low = 0;
  double high = 0;
};

/// Published values of one of the paper's two GPUs. Gains are t_unstreamed / t_streamed − 1 in %, lowest and highest
/// over the sizes.
struct PublishedGpu {
  std::string_view name;
  double per_stream_ms = 0;  ///< ms, t_sc
  double d2h_longer = 0;     ///< relative excess of the time of D2H copies over H2D copies
  unsigned iterations = 0;   ///< least number of iterations in Figs 1, 2 and 4
  unsigned step = 0;         ///< difference between numbers of iterations
  Range matmul, histogram, grayscale;
};
inline constexpr PublishedGpu gtx280{"GTX 280", 0.10, 0.36, 8, 1, {8, 19}, {25, 44}, {52, 63}};
inline constexpr PublishedGpu gtx480{"GTX 480", 0.03, -0.02, 20, 5, {5, 14}, {6, 21}, {6, 18}};

/// A row of Table 2 for one GPU: the number by the equations, and the numbers within 1 % of the best.
struct PublishedOptimum {
  double estimated = 0;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
};
/// Published values for a size of an application.
struct PublishedSize {
  std::string_view size;  ///< size as p, or as width x height
  PublishedOptimum on_280;
  PublishedOptimum on_480;
};
inline constexpr std::array<PublishedSize, 5> matmul_sizes{{
    {"256", {5.4, 2, 2}, {3.1, 2, 4}},  // the paper calls the result on the GTX 280 "an anomalous result"
    {"512", {4.3, 4, 4}, {6.4, 4, 8}},
    {"1024", {6.1, 4, 8}, {12.8, 8, 16}},
    {"2048", {12.2, 8, 16}, {25.8, 16, 32}},
    {"4096", {24.5, 16, 32}, {51.7, 32, 64}},
}};
inline constexpr std::array<PublishedSize, 3> histogram_sizes{{
    {"176x144", {2.6, 2, 2}, {2.3, 2, 2}},
    {"352x288", {5.1, 4, 8}, {4.5, 4, 4}},
    {"704x576", {9.9, 8, 16}, {9.1, 8, 16}},
}};
inline constexpr std::array<PublishedSize, 3> grayscale_sizes{{
    {"176x144", {3.5, 4, 4}, {2.8, 2, 4}},
    {"352x288", {7.0, 8, 8}, {5.6, 4, 8}},
    {"704x576", {13.9, 16, 16}, {11.3, 8, 16}},
}};

/// The value under the root in eqs 4, 6 and 8 that an estimate implies: n² t_sc, in ms.
constexpr double implied_ms(double streams, const PublishedGpu& gpu) { return streams * streams * gpu.per_stream_ms; }

/// A row of Table 3, in frames per second.
struct PublishedRate {
  std::string_view gpu;
  std::string_view frame;
  double unstreamed = 0;
  double streamed = 0;
};
inline constexpr std::array<PublishedRate, 4> frame_rates{{
    {"GTX 280", "352x288", 5770, 6502},
    {"GTX 280", "704x576", 1401, 1656},
    {"GTX 480", "352x288", 8469, 9149},
    {"GTX 480", "704x576", 2153, 2429},
}};

/// Numbers of streams of Figs 1, 2 and 4: the divisors of 15 Mi from 2 to 64.
inline constexpr std::array<std::uint32_t, 18> divisors_of_15_mi{2,  3,  4,  5,  6,  8,  10, 12, 15,
                                                                 16, 20, 24, 30, 32, 40, 48, 60, 64};
/// MiB to the GPU in the 13 asymmetric tests; the rest of 24 MiB is copied back. The paper gives the first, the last
/// and their number. Steps of 2 from 1 to 23 would be 12 tests; here the first and the last step are 1.
inline constexpr std::array<unsigned, 13> asymmetric_mib{1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 23};

}  // namespace shiplap::experiments::gomez_luna
