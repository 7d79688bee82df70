// The closed forms of van Werkhoven, Maassen, Seinstra, Bal: "Performance models for CPU-GPU data transfers" (CCGrid
// 2014), corrected where the printed text contradicts itself. The printed forms are in `as_printed`.
// research/models.md lists every difference with a counter-example. Symbols as in the paper, for the whole job:
// hd and dh are host to device and device to host, Bhd and Bdh are bytes, L+o, G and g are LogGP parameters
// (loggp.hpp), Thd = Bhd·Ghd, Tdh = Bdh·Gdh, tE is the time of the kernel, n the number of chunks.
#pragma once

#include <cstdint>

#include "shiplap/core/units.hpp"
#include "shiplap/model/loggp.hpp"

namespace shiplap::van_werkhoven_2014 {

/// The LogGP parameters of one direction (§V, Table I).
using Direction = loggp::Parameters;
using loggp::transfer;

/// A job that is cut into n equal chunks. All figures are for the whole job.
struct Work {
  Direction h2d;
  Direction d2h;
  Bytes in;
  Bytes out;
  Seconds kernel{0};
};

/// The time without overlap, (L+o)hd + Thd + tE + (L+o)dh + Tdh. The paper has no equation for it. Eqs 1, 2, 3 and 5
/// have this value at n = 1.
Seconds explicit_time(const Work&);
/// Eqs 1 and 2: one copy engine with implicit synchronisation, breadth-first issue.
Seconds eq1(const Work&, std::uint32_t chunks);
Seconds eq2(const Work&, std::uint32_t chunks);
/// Eqs 3 and 4: one copy engine without implicit synchronisation. Eq 3 has no gap, so it falls with every further
/// chunk.
Seconds eq3(const Work&, std::uint32_t chunks);
Seconds eq4(const Work&, std::uint32_t chunks);
/// Eq 5: two copy engines.
Seconds eq5(const Work&, std::uint32_t chunks);
/// Eq 6: zero-copy with perfect overlap, L + max(Thd, tE, Tdh). L = (L+o)hd + (L+o)dh, which the paper prints in each
/// of the three terms. `in` and `out` must count all bytes that cross the link, not only those of the arrays.
Seconds eq6(const Work&);

/// Device categories (§IV, Table III). The category must be found by experiments, never from the name of the device.
/// The paper has no category for implicit synchronisation with two copy engines (the Tesla C2050, printed as category
/// 1, is such a device). It has the times of category 1: its copies to the host wait for the last kernel, and the
/// copies to the device have ended by then.
enum class Category : std::uint8_t { implicit_sync_one_engine = 1, one_engine = 2, two_engines = 3 };
/// The exact critical path for a category: max(eq1, eq2), max(eq3, eq4) or eq5. The paper selects one equation by
/// "dominant" kernel or transfers without defining the term. The maximum needs no selection.
Seconds streams_time(const Work&, std::uint32_t chunks, Category);

/// G of each direction while the other direction is busy (Table II).
struct UnderLoad {
  PerByte h2d;
  PerByte d2h;
};
/// The job with the lower rates of duplex throughout. The paper ("for the duration of the overlapped transfer") can be
/// read in this way or as `slowed_while_both_move`.
Work slowed_throughout(Work, const UnderLoad&);
/// The job with the lower rates only while both directions move. The remainder of the longer transfer has its own rate:
/// with t = min(Bhd·G²hd, Bdh·G²dh), Thd = t + (Bhd − t/G²hd)·Ghd and Tdh = t + (Bdh − t/G²dh)·Gdh. G² is UnderLoad.
Work slowed_while_both_move(Work, const UnderLoad&);

/// The time of `hybrid`: copies to the device in chunks, and kernels that write their results in host memory. A chunk
/// has two stages, the copy and the kernel. The kernel takes its work or its writes, whichever is longer: f = max(tE,
/// Tdh)/n. The time is L + max(Thd + g_hd·(n − 1) + f, Thd/n + n·f). There are no copies to the host, hence no g_dh.
/// `work` must come from `slowed_throughout` or `slowed_while_both_move`.
Seconds hybrid_time(const Work& work, std::uint32_t chunks);

namespace as_printed {

/// Selects eq 1 or 2, or eq 3 or 4, by tE > Thd, the only reading of "dominant" that needs no further definition. The
/// time is discontinuous at tE = Thd.
Seconds streams_time(const Work&, std::uint32_t chunks, Category);
/// Eq 5 for every device (§VII), although no copies to the host are issued.
Seconds hybrid_time(const Work& work, std::uint32_t chunks);

}  // namespace as_printed

}  // namespace shiplap::van_werkhoven_2014
