// The predictions of every model for some choices, as text.
#pragma once

#include <span>
#include <string>

#include "shiplap/document/table.hpp"
#include "shiplap/plan/models.hpp"
#include "shiplap/plan/paper_answers.hpp"

namespace shiplap {

/// For each paper a table of its answers, each with the equation or section that it comes from, and below it a line for
/// each answer that it cannot give.
std::string paper_answers_report(std::span<const PaperAnswer>, const TextStyle& = {});

/// The time by each model for each choice, which has its short name, in one table.
Table models_table(std::span<const ModelComparison>);
/// A line for each model with a time below the bound: what it assumes, so that no run takes that time. "" without one.
std::string below_the_bound(std::span<const ModelComparison>, Seconds bound, const TextStyle& = {});
/// For each choice a table of the models with the parts of their times, and a table of the quantities by which the
/// simulated time grows by at least 0.005 % for 1 %.

std::string models_report(std::span<const ModelComparison>, const TextStyle& = {});

}  // namespace shiplap
