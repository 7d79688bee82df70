#include "shiplap/model/van_werkhoven_2014_overlap.hpp"

#include <algorithm>

namespace shiplap::van_werkhoven_2014 {

Seconds implicit_sync_dominant_kernel(const StageTimes& t, std::uint32_t n) { return t.h2d / n + t.kernel + t.d2h; }

Seconds implicit_sync_dominant_transfers(const StageTimes& t, std::uint32_t n) { return t.h2d + t.kernel / n + t.d2h; }

Seconds one_engine_dominant_kernel(const StageTimes& t, std::uint32_t n) { return t.h2d / n + t.kernel + t.d2h / n; }

Seconds one_engine_dominant_transfers(const StageTimes& t, std::uint32_t n) {
  return std::max({t.transfers(), t.h2d + t.kernel / n + t.d2h / n, t.h2d / n + t.kernel / n + t.d2h});
}

Seconds two_engines(const StageTimes& t, std::uint32_t n) {
  return std::max(
      {t.h2d + t.kernel / n + t.d2h / n, one_engine_dominant_kernel(t, n), t.h2d / n + t.kernel / n + t.d2h});
}

Seconds streams_time(const StageTimes& t, std::uint32_t n, Category category) {
  switch (category) {
    case Category::implicit_sync_one_engine:
      return std::max(implicit_sync_dominant_kernel(t, n), implicit_sync_dominant_transfers(t, n));
    case Category::one_engine:
      return std::max(one_engine_dominant_kernel(t, n), one_engine_dominant_transfers(t, n));
    case Category::two_engines:
      break;
  }
  return two_engines(t, n);
}

bool second_copy_engine_helps(const StageTimes& t, std::uint32_t n) { return t.transfers() > two_engines(t, n); }

Seconds as_printed::streams_time(const StageTimes& t, std::uint32_t n, Category category) {
  const bool kernel_dominates = t.kernel > t.h2d;
  switch (category) {
    case Category::implicit_sync_one_engine:
      return kernel_dominates ? implicit_sync_dominant_kernel(t, n) : implicit_sync_dominant_transfers(t, n);
    case Category::one_engine:
      return kernel_dominates ? one_engine_dominant_kernel(t, n) : one_engine_dominant_transfers(t, n);
    case Category::two_engines:
      break;
  }
  return two_engines(t, n);
}

bool as_printed::second_copy_engine_helps(const StageTimes& t, std::uint32_t n) {
  return t.kernel / n + t.h2d / n > t.h2d;
}

}  // namespace shiplap::van_werkhoven_2014
