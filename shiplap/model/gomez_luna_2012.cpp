#include "shiplap/model/gomez_luna_2012.hpp"

#include <algorithm>
#include <cmath>

#include "shiplap/model/chunk_choice.hpp"
#include "shiplap/model/van_werkhoven_2014_overlap.hpp"

namespace shiplap::gomez_luna_2012 {
namespace {

Seconds overhead(const Work& w, std::uint32_t n) { return w.per_stream * n; }

double root(Seconds time, Seconds per_stream) { return time.count() > 0 ? std::sqrt(time / per_stream) : 0; }

}  // namespace

Seconds eq1(const Work& w, std::uint32_t n) { return w.times.transfers() + overhead(w, n); }

Seconds eq3(const Work& w, std::uint32_t n) { return w.times.kernel + w.times.transfers() / n + overhead(w, n); }

Seconds eq5(const Work& w, std::uint32_t n) { return w.times.h2d + w.times.kernel / n + w.times.d2h + overhead(w, n); }

Seconds eq7(const Work& w, std::uint32_t n) { return w.times.h2d / n + w.times.kernel + w.times.d2h + overhead(w, n); }

double eq2_streams(const Work& w) { return w.times.transfers() / (w.times.transfers() - w.times.kernel); }

double eq4_streams(const Work& w) { return root(w.times.transfers(), w.per_stream); }

double eq6_streams(const Work& w) { return root(w.times.kernel, w.per_stream); }

double eq8_streams(const Work& w) { return root(w.times.h2d, w.per_stream); }

Seconds streamed_time(const Work& w, std::uint32_t n, Architecture architecture) {
  return architecture == Architecture::cc1 ? std::max(eq1(w, n), eq3(w, n)) : std::max(eq5(w, n), eq7(w, n));
}

double optimal_streams(const Work& w, Architecture architecture) {
  if (architecture == Architecture::cc2) return std::max(1.0, std::min(eq6_streams(w), eq8_streams(w)));
  const double falling = eq4_streams(w);
  return std::max(1.0, w.times.transfers() > w.times.kernel ? std::min(falling, eq2_streams(w)) : falling);
}

Seconds critical_path(const Work& w, std::uint32_t n, Architecture architecture) {
  using van_werkhoven_2014::Category;
  const Category category =
      architecture == Architecture::cc1 ? Category::one_engine : Category::implicit_sync_one_engine;
  return van_werkhoven_2014::streams_time(w.times, n, category) + overhead(w, n);
}

Seconds depth_first_time(const Work& w, std::uint32_t n) { return w.times.total() + overhead(w, n); }

Seconds unstreamed_time(const Work& w) { return w.times.total(); }

double speedup(const Work& w, std::uint32_t n, Architecture architecture) {
  return unstreamed_time(w) / streamed_time(w, n, architecture);
}

std::uint32_t best_streams(const Work& w, Architecture architecture, std::uint32_t limit) {
  const auto time = [&](std::uint32_t n) { return streamed_time(w, n, architecture); };
  const std::uint32_t best = best_integer_near(optimal_streams(w, architecture), time, limit);
  return time(best) < unstreamed_time(w) ? best : 1;
}

std::optional<Seconds> as_printed::streamed_time(const Work& w, std::uint32_t n, Architecture architecture) {
  const bool cc1 = architecture == Architecture::cc1;
  const Seconds left = cc1 ? w.times.transfers() : w.times.h2d;
  const Seconds right = cc1 ? w.times.kernel + w.times.transfers() / n : w.times.kernel;
  if (left > right) return cc1 ? eq1(w, n) : eq5(w, n);
  if (left < right) return cc1 ? eq3(w, n) : eq7(w, n);
  return std::nullopt;
}

double as_printed::optimal_streams(const Work& w, Architecture architecture) {
  if (architecture == Architecture::cc1) return w.times.transfers() > w.times.kernel ? eq2_streams(w) : eq4_streams(w);
  return w.times.h2d > w.times.kernel ? eq6_streams(w) : eq8_streams(w);
}

}  // namespace shiplap::gomez_luna_2012
