// Finds what a kernel reads or writes beyond what its job describes: it runs a few chunks by themselves, between
// poisoned bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/device/device.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// One thing that a kernel did and its job does not say.
struct Undeclared {
  /// What the kernel did.
  enum class Kind : std::uint8_t {
    read,           ///< a result depends on what lies outside of the reach of some array
    write,          ///< an element outside of the reach, or of an array that is only read, was changed
    unwritten,      ///< an element of an output was left as it was
    uninitialised,  ///< a result depends on what was in scratch before the kernel
  };
  Kind kind = Kind::read;    ///< what the kernel did
  std::string array;         ///< the array that was written or not; for a read the one that a result depends on
  ItemRange chunk;           ///< the chunk whose kernel did it
  std::int64_t element = 0;  ///< index of the first such element, negative before the array; for a read, of the result
  std::string result;        ///< for a read, the array with the result
};
/// One sentence with the chunk, the element and the remedy.
std::string to_string(const Undeclared&);

/// Runs the kernel over each of up to `chunks` chunks twice. Every array is a whole copy between guards of 4 KiB, in
/// which all bytes but the reach of the chunk are poisoned, the second time with other bytes. A result that differs
/// depends on the poison; further runs then tell on which array. Takes as much device memory as the arrays of the job.
/// On a virtual device views already throw at the first element outside of their reach. The arrays of the job are not
/// written.
std::vector<Undeclared> check_reach(Device&, const Job&, std::uint32_t chunks = 3);

/// Throws CheckFailed that lists what was found.
void require_declared_reach(Device&, const Job&, std::uint32_t chunks = 3);

}  // namespace shiplap
