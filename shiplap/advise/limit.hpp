// What a step of a program is bound by, as sentences.
#pragma once

#include <string>

#include "shiplap/advise/program_step.hpp"
#include "shiplap/advise/recording.hpp"
#include "shiplap/advise/step_schedule.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// What takes most of the step, and the kernel that leaves most of the GPU idle, if there is one. `step` is the
/// program's step, simulated.
std::string limit_of(const SimulatedStep& step, const ProgramStep&, const Profile&);

/// What would help a step for which there is no advice, as a further sentence; "" where nothing is known.
std::string what_else_would_help(const SimulatedStep&);

/// What the GPU did in the whole recording, where nothing is known of the host: "Of the GPU's time copies to it take
/// 94 % (25.5 GB), copies to the host 0 %, kernels 3 %."
std::string what_the_gpu_did(const Recording&);

}  // namespace shiplap
