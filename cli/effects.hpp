// Options without effect: each is named on stderr with the reason, so that nobody believes it did something.
#pragma once

#include "cli/choice_flags.hpp"
#include "cli/common.hpp"
#include "cli/evaluate.hpp"
#include "cli/measure.hpp"

namespace shiplap::cli {

/// Notes the options for choices that no strategy of the plan uses, and limits that limit nothing. `node` is what was
/// planned for.
void note_choices_without_effect(const ChoiceFlags&, const Plan&, const Node& node);
/// Notes the options on pinning that decide nothing for this job.
void note_uses_without_effect(const UseFlags&, const Job&);
/// Notes --race where it left no choice, and --repeat on a virtual device, whose runs take equal times.
void note_runs_without_effect(const UseFlags&, unsigned repeat, const Plan&, const Node&);
/// Notes what --list leaves unused.
void note_unused_beside_list(const MeasureFlags&);
/// Notes the options of a grid that no evaluated choice uses. `is_virtual`: the device gives equal times.
void note_grid_without_effect(const EvaluateFlags&, bool is_virtual);

}  // namespace shiplap::cli
