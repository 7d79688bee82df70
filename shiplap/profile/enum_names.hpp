// The names of enumerators in profile files.
#pragma once

#include <array>

#include "shiplap/core/enum_names.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

inline constexpr std::array engine_order_names{std::pair{EngineOrder::submission, "submission"sv},
                                               std::pair{EngineOrder::readiness, "readiness"sv}};
inline constexpr std::array implicit_sync_names{std::pair{ImplicitSync::none, "none"sv},
                                                std::pair{ImplicitSync::until_started, "until_started"sv},
                                                std::pair{ImplicitSync::until_ended, "until_ended"sv}};
inline constexpr std::array origin_names{
    std::pair{Origin::measured, "measured"sv}, std::pair{Origin::simulated, "simulated"sv},
    std::pair{Origin::imported, "imported"sv}, std::pair{Origin::published, "published"sv},
    std::pair{Origin::derived, "derived"sv},   std::pair{Origin::assumed, "assumed"sv},
    std::pair{Origin::planted, "planted"sv}};

/// The names of all enumerators of an enumeration.
constexpr EnumNames<EngineOrder> names_of(EngineOrder) { return engine_order_names; }
constexpr EnumNames<ImplicitSync> names_of(ImplicitSync) { return implicit_sync_names; }
constexpr EnumNames<Origin> names_of(Origin) { return origin_names; }

}  // namespace shiplap
