// What every model says of a choice, for people.
#pragma once

#include <span>
#include <string>

#include "shiplap/plan/models.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap {

/// A table of models for each choice, with what their times are made of, and what the prediction hangs on.
std::string models_report(std::span<const ModelComparison>, const TextStyle& = {});

}  // namespace shiplap
