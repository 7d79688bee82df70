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

Seconds transfer(const Direction& d, Bytes total, std::uint32_t messages) {
  return d.latency_overhead + total * d.per_byte + d.gap * (messages - 1.0);
}

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
  return w.h2d.latency_overhead + std::max({w.in * w.h2d.per_byte, w.kernel, w.out * w.d2h.per_byte});
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

}  // namespace shiplap::van_werkhoven_2014
