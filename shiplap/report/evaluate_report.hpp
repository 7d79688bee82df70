// An evaluation for people: how good each model is, where it is worst, and what following it would have cost.
#pragma once

#include <string>

#include "shiplap/evaluate/evaluation.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap {

std::string evaluate_report(const Evaluation&, const TextStyle& = {});
/// The same as a Markdown page.
std::string evaluate_markdown(const Evaluation&);

}  // namespace shiplap
