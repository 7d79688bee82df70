// The closed forms of van Werkhoven, Maassen, Seinstra, Bal: "Performance models for CPU-GPU data transfers" (CCGrid
// 2014), corrected where the printed text contradicts itself; what is printed stands beside it in `as_printed`. Pure
// functions of times in seconds; no simulation. docs/models.md lists every difference with a counter-example.
#pragma once

#include <cstdint>

#include "shiplap/core/units.hpp"
#include "shiplap/model/loggp.hpp"

namespace shiplap::van_werkhoven_2014 {

/// LogGP parameters of one direction (§V, Table I), and the time of a transfer.
using Direction = loggp::Parameters;
using loggp::transfer;

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
/// Eqs 3 and 4: one copy engine without implicit synchronisation. Eq 3 has no gap: it falls with every further chunk.
Seconds eq3(const Work&, std::uint32_t chunks);
Seconds eq4(const Work&, std::uint32_t chunks);
/// Eq 5: two copy engines.
Seconds eq5(const Work&, std::uint32_t chunks);
/// Eq 6: mapped memory, everything at once: L + max(Thd, tE, Tdh), where L = (L+o)hd + (L+o)dh: each of its three terms
/// is printed with both. `in` and `out` count every access that reaches the link, not the payload.
Seconds eq6(const Work&);

/// Device categories (§IV, Table III). To be found from what a device does, never from its name. A device with implicit
/// synchronisation and two engines is missing in the paper (Tesla C2050, printed as category 1, is one): its copies to
/// the host wait for the last kernel, when those to the device are over, so that it takes the times of category 1.
enum class Category : std::uint8_t { implicit_sync_one_engine = 1, one_engine = 2, two_engines = 3 };
/// The exact critical path for a category: max(eq1, eq2), max(eq3, eq4), eq5. The paper selects by "dominant" kernel or
/// transfers, which it never defines; taking the maximum needs no selection.
Seconds streams_time(const Work&, std::uint32_t chunks, Category);

/// G of both directions while the other one is busy, in s per byte (Table II).
struct UnderLoad {
  PerByte h2d;
  PerByte d2h;
};
/// The paper words it both ways ("for the duration of the overlapped transfer"): the lower rate throughout …
Work slowed_throughout(Work, const UnderLoad&);
/// … or only while both directions move, and the remainder of the longer transfer at its own rate: with
/// t = min(Bhd·G²hd, Bdh·G²dh), Thd = t + (Bhd − t/G²hd)·Ghd, and likewise Tdh.
Work slowed_while_both_move(Work, const UnderLoad&);

/// Hybrid: copies to the device in chunks, kernels that write their results in host memory. Two stages, copy and
/// kernel, the latter as long as the longer of its work and its writes: f = max(tE, Tdh)/n, L + max(Thd + g_hd·(n − 1)
/// + f, Thd/n + n·f). No copies to the host, hence no g_dh. `work` has its rates under load from one of the two
/// functions above.
Seconds hybrid_time(const Work& work, std::uint32_t chunks);

namespace as_printed {

/// Selects between eq 1 and 2, 3 and 4 by the only test that needs no further definition, tE > Thd. Jumps there.
Seconds streams_time(const Work&, std::uint32_t chunks, Category);
/// §VII: eq 5 whatever the device, although no copies to the host are issued.
Seconds hybrid_time(const Work& work, std::uint32_t chunks);

}  // namespace as_printed

}  // namespace shiplap::van_werkhoven_2014
