// The report of an evaluation: the errors of each model, its worst case, and the time lost by following it.
#pragma once

#include <string>

#include "shiplap/evaluate/evaluation.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap {

std::string evaluate_report(const Evaluation&, const TextStyle& = {});
/// A Markdown page with the sections of `evaluate_report`.
std::string evaluate_markdown(const Evaluation&);

}  // namespace shiplap
