// The names of enumerators in profile files.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

template <class E, std::size_t n>
using EnumNames = std::array<std::pair<E, std::string_view>, n>;

inline constexpr EnumNames<EngineOrder, 2> engine_order_names{
    {{EngineOrder::submission, "submission"}, {EngineOrder::readiness, "readiness"}}};
inline constexpr EnumNames<ImplicitSync, 3> implicit_sync_names{{{ImplicitSync::none, "none"},
                                                                 {ImplicitSync::until_started, "until_started"},
                                                                 {ImplicitSync::until_ended, "until_ended"}}};
inline constexpr EnumNames<Origin, 6> origin_names{{{Origin::measured, "measured"},
                                                    {Origin::simulated, "simulated"},
                                                    {Origin::published, "published"},
                                                    {Origin::derived, "derived"},
                                                    {Origin::assumed, "assumed"},
                                                    {Origin::planted, "planted"}}};

/// The names of all enumerators of an enumeration.
constexpr const auto& names_of(EngineOrder) { return engine_order_names; }
constexpr const auto& names_of(ImplicitSync) { return implicit_sync_names; }
constexpr const auto& names_of(Origin) { return origin_names; }

/// The name of an enumerator.
template <class E>
requires requires(E e) { names_of(e); }
std::string_view name_of(E value) {
  for (const auto& [known, name] : names_of(value))
    if (known == value) return name;
  throw Error("a profile holds an enumerator without a name");
}

}  // namespace shiplap
