// The tables of an evaluation.
#pragma once

#include "shiplap/document/document.hpp"
#include "shiplap/evaluate/evaluation.hpp"

namespace shiplap::document {

/// Adds the errors of each model and strategy, where each is worst, what following a model would have cost, the duels,
/// the copies alone, wrong results and skipped choices, as far as the evaluation has them.
void add_evaluation_tables(const Evaluation&, Section&);

}  // namespace shiplap::document
