// The closed forms of van Werkhoven, Maassen, Seinstra, Bal: "Performance models for CPU-GPU data transfers" (CCGrid
// 2014), corrected where the printed text contradicts itself. Pure functions of times in seconds; no simulation.
#pragma once

#include <cstdint>

#include "shiplap/core/units.hpp"

namespace shiplap::van_werkhoven_2014 {

/// LogGP parameters of one direction (§V, Table I): L+o, G and g.
struct Direction {
  Seconds latency_overhead{0};
  PerByte per_byte;
  Seconds gap{0};
};

/// T = L+o + k·G + g·(n − 1) for n equal messages of k bytes in total (§V).
Seconds transfer(const Direction&, Bytes total, std::uint32_t messages);

/// A job of n equal chunks: bytes of each direction and kernel time, all over the whole job.
struct Work {
  Direction h2d;
  Direction d2h;
  Bytes in;
  Bytes out;
  Seconds kernel{0};
};

/// No equation in the paper; eqs 1, 2, 3 and 5 at n = 1: (L+o)hd + Thd + tE + (L+o)dh + Tdh.
Seconds explicit_time(const Work&);
/// Eqs 1 and 2: one copy engine with implicit synchronisation; breadth-first issue.
Seconds eq1(const Work&, std::uint32_t chunks);
Seconds eq2(const Work&, std::uint32_t chunks);
/// Eqs 3 and 4: one copy engine without implicit synchronisation.
Seconds eq3(const Work&, std::uint32_t chunks);
Seconds eq4(const Work&, std::uint32_t chunks);
/// Eq 5: two copy engines.
Seconds eq5(const Work&, std::uint32_t chunks);
/// Eq 6: mapped memory, everything at once: L + max(Thd, tE, Tdh), L the host-to-device L+o.
Seconds eq6(const Work&);

/// Device categories (§IV, Table III).
enum class Category : std::uint8_t { implicit_sync_one_engine = 1, one_engine = 2, two_engines = 3 };
/// The exact critical path for a category: max(eq1, eq2), max(eq3, eq4), eq5. The paper selects by "dominant" kernel or
/// transfers, which it never defines; taking the maximum needs no selection.
Seconds streams_time(const Work&, std::uint32_t chunks, Category);

}  // namespace shiplap::van_werkhoven_2014
