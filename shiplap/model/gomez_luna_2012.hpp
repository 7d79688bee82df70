// The closed forms of Gómez-Luna, González-Linares, Benavides, Guil: "Performance models for asynchronous data
// transfers on consumer Graphics Processing Units" (JPDC 2012): eqs 1-8 as printed, and the continuous forms that
// replace them. They hold for breadth-first issue only: all copies in, then all kernels, then all copies out. Symbols
// as in the paper, for the whole job: t_Thd and t_Tdh are the times of the copies to the GPU and to the host, t_T =
// t_Thd + t_Tdh, t_E is the time of the kernel, n the number of streams, t_sc the cost of one stream, t_oh = t_sc·n.
#pragma once

#include <cstdint>
#include <optional>

#include "shiplap/model/stage_times.hpp"

namespace shiplap::gomez_luna_2012 {

/// The two architectures: compute capability 1.x (one copy engine, no implicit synchronisation; GTX 280) and 2.x (one
/// copy engine, implicit synchronisation; GTX 480).
enum class Architecture : std::uint8_t { cc1, cc2 };

/// A job, and the cost of each stream.
struct Work {
  StageTimes times;
  /// t_sc. The paper prints 0.10 (GTX 280) and 0.03 (GTX 480) without a unit, which must be milliseconds.
  Seconds per_stream{0};
};

/// Times by eqs 1, 3 (cc 1.x), 5, 7 (cc 2.x):
///   t_T + t_oh;  t_E + t_T/n + t_oh;  t_Thd + t_E/n + t_Tdh + t_oh;  t_Thd/n + t_E + t_Tdh + t_oh.
Seconds eq1(const Work&, std::uint32_t streams);
Seconds eq3(const Work&, std::uint32_t streams);
Seconds eq5(const Work&, std::uint32_t streams);
Seconds eq7(const Work&, std::uint32_t streams);
/// Numbers of streams by eqs 2, 4, 6, 8: t_T/(t_T − t_E); √(t_T/t_sc); √(t_E/t_sc); √(t_Thd/t_sc). Eq 2 is the number
/// at which eqs 1 and 3 are equal, not a minimum of eq 1. It is defined for t_T > t_E only.
double eq2_streams(const Work&);
double eq4_streams(const Work&);
double eq6_streams(const Work&);
double eq8_streams(const Work&);

/// The printed cases of each architecture as one form. It needs no conditions, which in the paper depend on n and do
/// not cover equality.
///   cc 1.x: max(t_T, t_E + t_T/n) + t_oh
///   cc 2.x: max(t_Thd, t_E) + min(t_Thd, t_E)/n + t_Tdh + t_oh
Seconds streamed_time(const Work&, std::uint32_t streams, Architecture);
/// The number n ≥ 1 for which `streamed_time` is least: √(t_T/t_sc), but at most t_T/(t_T − t_E) if t_T > t_E, for
/// cc 1.x; √(min(t_Thd, t_E)/t_sc) for cc 2.x.
double optimal_streams(const Work&, Architecture);

/// The critical path of van Werkhoven et al. 2014, §IV (category 2 for cc 1.x, category 1 for cc 2.x), plus t_oh. It is
/// longer than eq 1 when copies to the host are short: eq 1 assumes that copies hide the whole kernel, but only copies
/// to the host can hide the kernel of the last chunk.
Seconds critical_path(const Work&, std::uint32_t streams, Architecture);
/// Depth-first issue (copy in, kernel, copy out of one stream after the other) on one copy engine: t_T + t_E + t_oh.
/// Each copy in waits for the copy out before it, so nothing overlaps.
Seconds depth_first_time(const Work&, std::uint32_t streams);

/// The time without streams: t_T + t_E, without t_oh. The other forms include t_sc even for one stream.
Seconds unstreamed_time(const Work&);
/// unstreamed_time / streamed_time. The paper's "improvement" is this minus 1. It is not the fraction of the time that
/// is saved, which cannot exceed 50 % on one copy engine.
double speedup(const Work&, std::uint32_t streams, Architecture);
/// The best number of streams up to `limit`; 1 when no number is faster than `unstreamed_time`.
std::uint32_t best_streams(const Work&, Architecture, std::uint32_t limit);

namespace as_printed {

/// Eq 1 or 3 (cc 1.x), eq 5 or 7 (cc 2.x), by the printed conditions; nullopt at equality, which they do not cover.
std::optional<Seconds> streamed_time(const Work&, std::uint32_t streams, Architecture);
/// Eq 2 if t_T > t_E, else eq 4 (cc 1.x); eq 6 if t_Thd > t_E, else eq 8 (cc 2.x).
double optimal_streams(const Work&, Architecture);

}  // namespace as_printed

}  // namespace shiplap::gomez_luna_2012
