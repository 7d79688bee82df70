// Advice as files have it and people see it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/advise/advice.hpp"
#include "shiplap/core/json_forward.hpp"
#include "shiplap/schedule/timeline_view.hpp"

namespace shiplap {

/// What a step of a program does.
struct StepWork {
  Bytes in{0};                ///< bytes that are copied to the GPU
  Bytes in_pageable{0};       ///< those of them that come from pageable memory
  Bytes out{0};               ///< bytes that are copied to the host
  Bytes out_pageable{0};      ///< those of them that go into pageable memory
  Bytes moved_in{0};          ///< bytes of managed memory that move to the GPU
  Bytes moved_out{0};         ///< bytes of managed memory that move to the host
  std::uint64_t kernels = 0;  ///< number of kernels
  std::uint64_t waits = 0;    ///< how often the host waits for the GPU
};

/// Advice without schedules.
struct AdviceView {
  std::string program;                              ///< command line of the program
  std::string gpu;                                  ///< name of the GPU
  std::vector<std::string> languages;               ///< languages and libraries that the program seems to use
  std::string profile;                              ///< name of the profile
  std::string rates{};                              ///< rates of copies that were recorded, and that predictions have
  std::string assumed_link{};                       ///< whose link predictions have; "": that of the recording
  bool tells_link = true;                           ///< whether recorded copies tell how fast the recorded link is
  bool inferred_waits = false;                      ///< whether it is a guess for what the host waits
  std::string failed;                               ///< which calls failed, as sentences; empty: none
  Interval<Seconds> step;                           ///< recorded time of a step: the median and the quartiles
  std::uint64_t steps = 0;                          ///< number of recorded steps of this kind; 0: no step was found
  std::uint64_t ops = 0;                            ///< copies, kernels and waits of a step
  std::optional<StepWork> work{};                   ///< what a step does; nullopt in files that do not have it
  double coverage = 0;                              ///< fraction of the recorded time on the GPU that is in steps
  std::vector<StepLevel> levels{};                  ///< nested steps from the largest to the smallest
  std::vector<std::string> left_out{};              ///< rules that a step without another one cannot have
  Seconds initialisation{0};                        ///< time that no step contains (initialisation.hpp)
  Seconds simulated{0};                             ///< time of the recorded step in the simulation
  double fidelity = 0;                              ///< simulated over recorded time, minus 1
  bool slowed_by_recording = false;                 ///< whether the program is so dense that recording slowed it
  std::string refused;                              ///< why there is no advice at all; empty: there may be
  std::string limit;                                ///< what limits the step in the end, as a sentence
  std::vector<Advice> advice;                       ///< what saves most comes first
  std::optional<TimelineView> recorded_timeline{};  ///< simulated times of a few recorded steps
  std::optional<TimelineView> advised_timeline{};   ///< simulated times of the steps with all advice
};
/// What files and people see of the advice.
AdviceView advice_view(const Advised&);

/// The command line with paths reduced to the names of their files, and cut off where it is long.
std::string short_command(const std::string& program);

/// Writes the document `shiplap/advice`.
Json to_json(const AdviceView&);
/// Reads the document. Throws Error that names the key.
void from_json(const JsonReader&, AdviceView&);
Json json_schema(const AdviceView&);  ///< the JSON Schema of the document

}  // namespace shiplap
