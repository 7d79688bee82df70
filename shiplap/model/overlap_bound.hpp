// How much overlap can gain at most. The ETH 2025 report ("Overlapping data transfer and computation on GPU") calls a
// speed-up of 2.0 the optimum; with two copy engines three stages overlap, and the bound is 3.
#pragma once

#include "shiplap/model/stage_times.hpp"
#include "shiplap/model/van_werkhoven_2014.hpp"

namespace shiplap {

/// The speed-up over no overlap, t_Thd + t_E + t_Tdh, that no number of chunks exceeds while the stages keep their
/// times; no equation in a paper. By the work of the engine that is busy longest:
///   two_engines               sum / max(t_Thd, t_E, t_Tdh) ≤ 3
///   one_engine                sum / max(t_Thd + t_Tdh, t_E) ≤ 2, as one engine copies both ways
///   implicit_sync_one_engine  sum / (max(t_Thd, t_E) + t_Tdh) ≤ 2, where copies to the host wait until the last kernel
///                             has *ended*, as the papers' forms assume
/// 1 for a job that takes no time. A kernel that is faster in chunks (several run at once) can exceed it.
double overlap_bound(const StageTimes&, van_werkhoven_2014::Category);

}  // namespace shiplap
