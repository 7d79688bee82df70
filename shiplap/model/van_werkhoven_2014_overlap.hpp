// van Werkhoven et al. 2014, §IV: how far chunks overlap on each category of device, without parameters of transfers;
// and whether a second copy engine helps. For copies and kernels issued breadth-first.
#pragma once

#include "shiplap/model/stage_times.hpp"
#include "shiplap/model/van_werkhoven_2014.hpp"

namespace shiplap::van_werkhoven_2014 {

/// §IV, the scenarios of each category; h, e, d = t_Thd/n, t_E/n, t_Tdh/n.
/// Category 1: h + t_E + t_Tdh (dominant kernel), t_Thd + e + t_Tdh (dominant transfers).
Seconds implicit_sync_dominant_kernel(const StageTimes&, std::uint32_t chunks);
Seconds implicit_sync_dominant_transfers(const StageTimes&, std::uint32_t chunks);
/// Category 2: h + t_E + d; max(t_Thd + t_Tdh, t_Thd + e + d, h + e + t_Tdh).
Seconds one_engine_dominant_kernel(const StageTimes&, std::uint32_t chunks);
Seconds one_engine_dominant_transfers(const StageTimes&, std::uint32_t chunks);
/// Category 3: max(t_Thd + e + d, h + t_E + d, h + e + t_Tdh), one form for both scenarios.
Seconds two_engines(const StageTimes&, std::uint32_t chunks);

/// The exact critical path: the longer of a category's two scenarios.
Seconds streams_time(const StageTimes&, std::uint32_t chunks, Category);

/// Whether category 3 is faster than category 2: t_Thd + t_Tdh > max(t_Thd + e + d, h + t_E + d, h + e + t_Tdh).
bool second_copy_engine_helps(const StageTimes&, std::uint32_t chunks);

namespace as_printed {

/// Selects the scenario by t_E > t_Thd. Right for category 1; for category 2 it can fall below t_Thd + t_Tdh, which the
/// one engine needs.
Seconds streams_time(const StageTimes&, std::uint32_t chunks, Category);
/// "only improves performance if" e + h > t_Thd: the inequality points the wrong way.
bool second_copy_engine_helps(const StageTimes&, std::uint32_t chunks);

}  // namespace as_printed

}  // namespace shiplap::van_werkhoven_2014
