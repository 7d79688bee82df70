// van Werkhoven et al. 2014, §IV: the time of overlapping chunks on each category of device, without fixed costs of
// transfers, and whether a second copy engine helps. Issue is breadth-first.
#pragma once

#include "shiplap/model/stage_times.hpp"
#include "shiplap/model/van_werkhoven_2014.hpp"

namespace shiplap::van_werkhoven_2014 {

/// The scenarios of category 1 (§IV): h + t_E + t_Tdh (dominant kernel) and t_Thd + e + t_Tdh (dominant transfers).
/// t_Thd, t_E and t_Tdh are StageTimes. In all formulas h = t_Thd/n, e = t_E/n and d = t_Tdh/n, with n chunks.
Seconds implicit_sync_dominant_kernel(const StageTimes&, std::uint32_t chunks);
Seconds implicit_sync_dominant_transfers(const StageTimes&, std::uint32_t chunks);
/// The scenarios of category 2: h + t_E + d and max(t_Thd + t_Tdh, t_Thd + e + d, h + e + t_Tdh).
Seconds one_engine_dominant_kernel(const StageTimes&, std::uint32_t chunks);
Seconds one_engine_dominant_transfers(const StageTimes&, std::uint32_t chunks);
/// Both scenarios of category 3: max(t_Thd + e + d, h + t_E + d, h + e + t_Tdh).
Seconds two_engines(const StageTimes&, std::uint32_t chunks);

/// The exact critical path of a category: the longer one of its scenarios.
Seconds streams_time(const StageTimes&, std::uint32_t chunks, Category);

/// Whether category 3 is faster than category 2: t_Thd + t_Tdh > max(t_Thd + e + d, h + t_E + d, h + e + t_Tdh).
bool second_copy_engine_helps(const StageTimes&, std::uint32_t chunks);

namespace as_printed {

/// Selects the scenario by t_E > t_Thd. That is right for category 1. For category 2 the result can be less than
/// t_Thd + t_Tdh, the time that the one copy engine is busy.
Seconds streams_time(const StageTimes&, std::uint32_t chunks, Category);
/// "only improves performance if" e + h > t_Thd. The printed inequality has the wrong direction.
bool second_copy_engine_helps(const StageTimes&, std::uint32_t chunks);

}  // namespace as_printed

}  // namespace shiplap::van_werkhoven_2014
