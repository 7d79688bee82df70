// The largest speed-up that overlap can reach. The ETH 2025 report ("Overlapping data transfer and computation on GPU")
// calls 2.0 the optimum. With two copy engines three stages overlap, and the speed-up can reach 3.
#pragma once

#include "shiplap/model/stage_times.hpp"
#include "shiplap/model/van_werkhoven_2014.hpp"

namespace shiplap {

/// The speed-up over no overlap (t_Thd + t_E + t_Tdh, see StageTimes) that no number of chunks exceeds as long as the
/// stages keep their times. It is not an equation of a paper. It follows from the stages that cannot overlap with each
/// other:
///   two_engines               sum / max(t_Thd, t_E, t_Tdh) ≤ 3
///   one_engine                sum / max(t_Thd + t_Tdh, t_E) ≤ 2, because one engine copies in both directions
///   implicit_sync_one_engine  sum / (max(t_Thd, t_E) + t_Tdh) ≤ 2, because copies to the host wait until the last
///                             kernel has *ended*, as the papers' forms assume
/// It is 1 for a job that takes no time. A job whose kernel is faster in chunks, because several run at once, can
/// exceed it.
double overlap_bound(const StageTimes&, van_werkhoven_2014::Category);

}  // namespace shiplap
