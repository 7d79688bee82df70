// Finds accesses of a kernel that its job does not describe, by running a few chunks one by one between poisoned bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shiplap/device/device.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// An access, or a missing write, that contradicts the job's description.
struct Undeclared {
  /// Kinds of undeclared accesses.
  enum class Kind : std::uint8_t {
    read,           ///< a result depends on an element outside of the reach of an array
    write,          ///< an element outside of the reach, or of an array that is only read, was changed
    unwritten,      ///< an element of an output was not written
    uninitialised,  ///< a result depends on the content of scratch before the kernel
  };
  Kind kind = Kind::read;  ///< kind of the access
  std::string array;       ///< the array that was accessed, or not written
  ItemRange chunk;         ///< the chunk whose kernel did it
  /// Index of the first element that was changed or not written, negative before the array. For `read` and
  /// `uninitialised` it is the index of the first result that depends on the access.
  std::int64_t element = 0;
  std::string result;  ///< name of the array with that result
};
/// A sentence with the chunk, the element and the remedy.
std::string to_string(const Undeclared&);

/// Runs the kernel twice over each of up to `chunks` chunks. It works on copies of the whole arrays, with 4 KiB on
/// either side, in which all bytes outside of the chunk's reach are poisoned, with different bytes in the second run. A
/// result that differs depends on the poison, and further runs then find on which array. Needs device memory for all
/// arrays of the job. On a virtual device, views throw at the first element outside of their reach. The arrays of the
/// job are not written.
std::vector<Undeclared> check_reach(Device&, const Job&, std::uint32_t chunks = 3);

/// Throws CheckFailed with the list of undeclared accesses when there are any.
void require_declared_reach(Device&, const Job&, std::uint32_t chunks = 3);

}  // namespace shiplap
