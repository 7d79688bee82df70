#include "shiplap/model/van_werkhoven_2014.hpp"

#include <algorithm>

namespace shiplap::van_werkhoven_2014 {
namespace {

// The paper's symbols: L = (L+o)hd + (L+o)dh, T = bytes · G, m = n − 1.
struct Terms {
  Seconds latency, in, out, gap_in, gap_out;
  double n;
  explicit Terms(const Work& w, std::uint32_t chunks)
      : latency(w.h2d.latency_overhead + w.d2h.latency_overhead),
        in(w.in * w.h2d.per_byte),
        out(w.out * w.d2h.per_byte),
        gap_in(w.h2d.gap * (chunks - 1.0)),
        gap_out(w.d2h.gap * (chunks - 1.0)),
        n(chunks) {}
};

}  // namespace

Seconds explicit_time(const Work& w) {
  const Terms t(w, 1);
  return t.latency + t.in + w.kernel + t.out;
}

Seconds eq1(const Work& w, std::uint32_t chunks) {
  const Terms t(w, chunks);
  return t.latency + t.in / t.n + w.kernel + t.out + t.gap_out;
}

Seconds eq2(const Work& w, std::uint32_t chunks) {
  const Terms t(w, chunks);
  return t.latency + t.in + t.gap_in + w.kernel / t.n + t.out + t.gap_out;
}

Seconds eq3(const Work& w, std::uint32_t chunks) {
  const Terms t(w, chunks);
  return t.latency + t.in / t.n + w.kernel + t.out / t.n;
}

Seconds eq4(const Work& w, std::uint32_t chunks) {
  const Terms t(w, chunks);
  const Seconds transfers = t.latency + t.in + t.gap_in + t.out + t.gap_out;
  const Seconds in_dominates = t.latency + t.in + t.gap_in + w.kernel / t.n + t.out / t.n;
  const Seconds out_dominates = t.latency + t.in / t.n + w.kernel / t.n + t.out + t.gap_out;
  return std::max({transfers, in_dominates, out_dominates});
}

Seconds eq5(const Work& w, std::uint32_t chunks) {
  const Terms t(w, chunks);
  const Seconds in_dominates = t.latency + t.in + t.gap_in + w.kernel / t.n + t.out / t.n;
  const Seconds out_dominates = t.latency + t.in / t.n + w.kernel / t.n + t.out + t.gap_out;
  return std::max({in_dominates, eq3(w, chunks), out_dominates});
}

Seconds eq6(const Work& w) {
  const Terms t(w, 1);
  return t.latency + std::max({t.in, w.kernel, t.out});
}

Seconds streams_time(const Work& w, std::uint32_t chunks, Category category) {
  switch (category) {
    case Category::implicit_sync_one_engine:
      return std::max(eq1(w, chunks), eq2(w, chunks));
    case Category::one_engine:
      return std::max(eq3(w, chunks), eq4(w, chunks));
    case Category::two_engines:
      break;
  }
  return eq5(w, chunks);
}

Work slowed_throughout(Work w, const UnderLoad& load) {
  w.h2d.per_byte = load.h2d;
  w.d2h.per_byte = load.d2h;
  return w;
}

Work slowed_while_both_move(Work w, const UnderLoad& load) {
  const Seconds both = std::min(w.in * load.h2d, w.out * load.d2h);
  const auto average = [&](Bytes total, PerByte alone, PerByte loaded) -> PerByte {
    if (total.count == 0) return alone;
    const double bytes = static_cast<double>(total.count);
    // The shorter transfer has no remainder. Rounding must not make it negative.
    const double remainder = std::max(0.0, bytes - both.count() / loaded.seconds);
    return {(both.count() + remainder * alone.seconds) / bytes};
  };
  w.h2d.per_byte = average(w.in, w.h2d.per_byte, load.h2d);
  w.d2h.per_byte = average(w.out, w.d2h.per_byte, load.d2h);
  return w;
}

Seconds hybrid_time(const Work& w, std::uint32_t chunks) {
  const Terms t(w, chunks);
  const Seconds fused = std::max(w.kernel, t.out);
  return t.latency + std::max(t.in + t.gap_in + fused / t.n, t.in / t.n + fused);
}

Seconds as_printed::streams_time(const Work& w, std::uint32_t chunks, Category category) {
  const bool kernel_dominates = w.kernel > w.in * w.h2d.per_byte;
  switch (category) {
    case Category::implicit_sync_one_engine:
      return kernel_dominates ? eq1(w, chunks) : eq2(w, chunks);
    case Category::one_engine:
      return kernel_dominates ? eq3(w, chunks) : eq4(w, chunks);
    case Category::two_engines:
      break;
  }
  return eq5(w, chunks);
}

Seconds as_printed::hybrid_time(const Work& w, std::uint32_t chunks) { return eq5(w, chunks); }

}  // namespace shiplap::van_werkhoven_2014
