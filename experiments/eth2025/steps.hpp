// The steps of the reproduction, each less than eight minutes on an H200.
#pragma once

#include "experiments/experiment.hpp"

namespace shiplap::experiments::eth {

StepResult one_call(const Bench&);        ///< Figs 1 and 2
StepResult more_calls(const Bench&);      ///< Fig. 3
StepResult largest_array(const Bench&);   ///< 2^29 elements, by number of calls
StepResult levels(const Bench&);          ///< Fig. 4, a launch for each step of a chunk
StepResult many_levels(const Bench&);     ///< the largest fields of Fig. 4
StepResult level_launches(const Bench&);  ///< Fig. 4 and 5, a launch for each level
StepResult squares(const Bench&);         ///< 64 levels, by size
StepResult time_steps(const Bench&);      ///< Figs 6 to 8
StepResult validation(const Bench&);      ///< wrong results that a tolerance of 1e-5 accepts, and those that ours
                                          ///< accepts

}  // namespace shiplap::experiments::eth
