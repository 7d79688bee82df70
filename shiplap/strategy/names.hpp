// The names of layouts and orders in files and parameters.
#pragma once

#include "shiplap/schedule/names.hpp"
#include "shiplap/strategy/choice.hpp"

namespace shiplap {

inline constexpr std::array layout_names{
    std::pair{Layout::per_chunk, "per-chunk"sv}, std::pair{Layout::few, "few"sv}, std::pair{Layout::three, "three"sv},
    std::pair{Layout::one_engine, "one-engine"sv}, std::pair{Layout::implicit_sync, "implicit-sync"sv}};
inline constexpr std::array issue_order_names{std::pair{IssueOrder::depth, "depth"sv},
                                              std::pair{IssueOrder::breadth, "breadth"sv}};

constexpr EnumNames<Layout> names_of(Layout) { return layout_names; }
constexpr EnumNames<IssueOrder> names_of(IssueOrder) { return issue_order_names; }

}  // namespace shiplap
