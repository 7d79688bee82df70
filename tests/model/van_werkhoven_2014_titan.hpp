// Figures of van Werkhoven et al. 2014, Tables I and II: their link, and ocean kernels on it.
#pragma once

#include "shiplap/model/van_werkhoven_2014.hpp"

namespace shiplap::van_werkhoven_2014 {

inline constexpr auto cat1 = Category::implicit_sync_one_engine;
inline constexpr auto cat2 = Category::one_engine;
inline constexpr auto cat3 = Category::two_engines;

inline const Direction h2d{microseconds(9.42), PerByte{8.318392e-11}, microseconds(2.503)};
inline const Direction d2h{microseconds(9.023), PerByte{7.924734e-11}, microseconds(2.674)};
inline constexpr Bytes field{352321536};  // 1024 × 1024 × 42 doubles
inline Work state(double kernel_ms) { return {h2d, d2h, field * 2, field, milliseconds(kernel_ms)}; }
inline Work buoydiff(double kernel_ms) { return {h2d, d2h, field * 2, field * 2, milliseconds(kernel_ms)}; }

}  // namespace shiplap::van_werkhoven_2014
