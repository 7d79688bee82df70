// Finds what a kernel reads or writes beyond what its job says: every chunk by itself, in poisoned surroundings.
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
  std::string array;         ///< that was written or not; of a read the array whose surroundings a result depends on
  ItemRange chunk;           ///< of which chunk
  std::int64_t element = 0;  ///< first one; before the array's begin it is negative. Of a read that of the result
  std::string result;        ///< of a read: the array with the result
};
/// One sentence with the chunk, the element and the remedy.
std::string to_string(const Undeclared&);

/// Runs the kernel over each of up to `chunks` chunks twice, on a whole copy of every array between guards of 4 KiB, in
/// which all but the chunk's reach is poisoned, the second time with other bytes. A result that differs depends on the
/// poison: then array after array is looked at. Memory on the device: once the job's arrays. On a virtual device views
/// throw at the first element outside of their reach already. The job's own arrays are not written.
std::vector<Undeclared> check_reach(Device&, const Job&, std::uint32_t chunks = 3);

/// Throws CheckFailed that lists what was found.
void require_declared_reach(Device&, const Job&, std::uint32_t chunks = 3);

}  // namespace shiplap
