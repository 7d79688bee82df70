// What the fuzzer calls: each target gives bytes of anybody to one part of the library, and checks what must hold.
#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "shiplap/core/error.hpp"

namespace shiplap::fuzz {

/// A part of the library that takes input from others.
struct Target {
  std::string_view name;  ///< name of the target and of the folder of its corpus
  /// Reads the bytes. It throws nothing for bytes that the library reads or refuses, and Broken for a promise that does
  /// not hold; any other exception is a defect as well.
  void (*run)(std::string_view bytes);
};

extern const Target adaptation_target;      ///< logs of adaptation, and their replay
extern const Target emit_target;            ///< programs from jobs with any names and shapes
extern const Target evaluation_target;      ///< evaluations
extern const Target history_target;         ///< histories of fleets, checks of nodes
extern const Target json_target;            ///< documents of JSON
extern const Target kernel_profile_target;  ///< costs of kernels, and plans made with them
extern const Target nsys_target;            ///< databases exported by Nsight Systems
extern const Target profile_target;         ///< profiles, and what is computed from them
extern const Target rank_message_target;    ///< messages between ranks
extern const Target recording_target;       ///< recordings, also cut off, and the advice for them
extern const Target report_target;          ///< files that a page is made of
extern const Target schedule_target;        ///< schedules: validate, simulate, concatenate
extern const Target sweep_target;           ///< published sweeps (CSV)
extern const Target tool_output_target;     ///< outputs of other tools, and profiles of them
extern const Target torch_trace_target;     ///< traces of the PyTorch profiler, and the advice for them
extern const Target values_target;          ///< values of the command line and of files of the system
extern const Target workload_target;        ///< names of workloads

/// All targets, by name.
std::span<const Target* const> targets();
/// The target with this name. Throws UsageError that lists the names.
const Target& find_target(std::string_view name);

/// A promise does not hold.
class Broken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws Broken unless the promise holds.
inline void require(bool holds, const std::string& promise) {
  if (!holds) throw Broken(promise);
}

/// The result of `read`, or nullopt when it refuses its input with a message.
template <class Read>
auto read_or_refused(const Read& read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const Error& error) {
    require(!std::string_view(error.what()).empty(), "a refusal has a message");
    require(std::string_view(error.what()).size() < 100'000, "a refusal is short, whatever the input");
    return std::nullopt;
  }
}

}  // namespace shiplap::fuzz
