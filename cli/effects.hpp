// Options without effect: each is named on stderr with the reason, so that nobody believes it did something.
#pragma once

#include <string_view>

#include "cli/common.hpp"
#include "cli/evaluate.hpp"
#include "cli/measure.hpp"
#include "shiplap/document/text.hpp"

namespace shiplap::cli {

/// Notes that an option has no effect: "--threads 4 has no effect: strategy streams uses no host threads".
void note_without_effect(std::string_view option, std::string_view reason);
/// How much of a section is printed. Notes on stderr that --all has no effect beside --json, which holds everything.
document::Detail detail_of(bool all, bool json);

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
