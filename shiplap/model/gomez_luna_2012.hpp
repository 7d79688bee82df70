// The closed forms of Gómez-Luna, González-Linares, Benavides, Guil: "Performance models for asynchronous data
// transfers on consumer Graphics Processing Units" (JPDC 2012): eqs 1-8 as printed, and the continuous forms that
// replace them. Times in seconds. All hold for breadth-first issue only: all copies in, all kernels, all copies out.
#pragma once

#include <cstdint>
#include <optional>

#include "shiplap/model/stage_times.hpp"

namespace shiplap::gomez_luna_2012 {

/// The two architectures: compute capability 1.x (one copy engine, no implicit synchronisation; GTX 280) and 2.x (one
/// copy engine, implicit synchronisation; GTX 480).
enum class Architecture : std::uint8_t { cc1, cc2 };

/// A job, and t_sc: what each stream costs, in s. The paper prints 0.10 (GTX 280) and 0.03 (GTX 480) without a unit;
/// they are milliseconds.
struct Work {
  StageTimes times;
  Seconds per_stream{0};
};

/// Eqs 1, 3 (cc 1.x), 5, 7 (cc 2.x), with t_oh = t_sc·n:
///   t_T + t_oh;  t_E + t_T/n + t_oh;  t_Thd + t_E/n + t_Tdh + t_oh;  t_Thd/n + t_E + t_Tdh + t_oh.
Seconds eq1(const Work&, std::uint32_t streams);
Seconds eq3(const Work&, std::uint32_t streams);
Seconds eq5(const Work&, std::uint32_t streams);
Seconds eq7(const Work&, std::uint32_t streams);
/// Eqs 2, 4, 6, 8, numbers of streams: t_T/(t_T − t_E), which is where eqs 1 and 3 meet and not a minimum of eq 1, and
/// has a meaning for t_T > t_E only; √(t_T/t_sc); √(t_E/t_sc); √(t_Thd/t_sc).
double eq2_streams(const Work&);
double eq4_streams(const Work&);
double eq6_streams(const Work&);
double eq8_streams(const Work&);

/// The printed cases as one form each, without conditions that depend on n or leave equality out:
/// cc 1.x max(t_T, t_E + t_T/n) + t_oh; cc 2.x max(t_Thd, t_E) + min(t_Thd, t_E)/n + t_Tdh + t_oh.
Seconds streamed_time(const Work&, std::uint32_t streams, Architecture);
/// Where `streamed_time` is least, n ≥ 1: cc 1.x √(t_T/t_sc), but no more than t_T/(t_T − t_E) if t_T > t_E;
/// cc 2.x √(min(t_Thd, t_E)/t_sc).
double optimal_streams(const Work&, Architecture);

/// The critical path of van Werkhoven et al. 2014, §IV (category 2 or 1), and t_oh. Eq 1 takes the whole kernel as
/// hidden, but nothing hides the last chunk's kernel other than copies to the host: where those are few, the exact path
/// is longer.
Seconds critical_path(const Work&, std::uint32_t streams, Architecture);
/// Depth-first issue (copy in, kernel, copy out of one stream after the other) on one copy engine: each copy in streams
/// behind the copy out before it, and nothing overlaps: t_T + t_E + t_oh.
Seconds depth_first_time(const Work&, std::uint32_t streams);

/// t_T + t_E, without t_oh: what streams have to beat. The forms charge t_sc even for one stream.
Seconds unstreamed_time(const Work&);
/// unstreamed_time / streamed_time. What the paper calls an improvement is this minus 1, not the share of time saved,
/// which on one copy engine cannot exceed 50 %.
double speedup(const Work&, std::uint32_t streams, Architecture);
/// The best number of streams up to `limit`; 1, without streams and their cost, where no number pays.
std::uint32_t best_streams(const Work&, Architecture, std::uint32_t limit);

namespace as_printed {

/// Eq 1 or 3, 5 or 7 by the printed conditions; nullopt where these are equalities.
std::optional<Seconds> streamed_time(const Work&, std::uint32_t streams, Architecture);
/// Eq 2 if t_T > t_E, else eq 4; eq 6 if t_Thd > t_E, else eq 8.
double optimal_streams(const Work&, Architecture);

}  // namespace as_printed

}  // namespace shiplap::gomez_luna_2012
