// What the parts of a step need of its arrays, and when: whether values are still needed, and what crosses the link for
// arrays that have a home on the GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/workload/step.hpp"

namespace shiplap {

/// A part of an array that crosses the link around a part of the host.
struct RegionOfHost {
  std::size_t array = 0;  ///< index in StepArrays
  ByteRange bytes;        ///< which bytes
};

/// A part of an array that a part of the host accesses.
struct AccessOfHost {
  RegionOfHost region;
  AccessMode mode = AccessMode::read;
};

/// What crosses the link for arrays with a home.
struct PartFlow {
  std::vector<bool> arrives{};          ///< by array: its values are brought to the GPU for this kernel
  std::vector<bool> leaves{};           ///< by array: what this kernel writes is copied back
  std::vector<RegionOfHost> to_host{};  ///< what a part of the host needs of arrays that only the GPU has
  /// What a part of the host writes into arrays that the GPU has. For a kernel: arrays that are brought as a whole,
  /// because kernels access parts of them.
  std::vector<RegionOfHost> to_gpu{};
};

/// The flow of values through the parts of a step, over all repeats.
class StepFlow {
 public:
  /// The step must outlive the object.
  StepFlow(const Step&, const StepArrays&);

  /// Number of parts over all repeats.
  std::size_t parts() const { return step_.parts.size() * step_.repeats; }
  /// The part at a position; null for a part of the host.
  const Job* job(std::size_t position) const { return std::get_if<Job>(&part(position)); }
  const HostPart* host(std::size_t position) const { return std::get_if<HostPart>(&part(position)); }
  /// How the kernel at a position uses an array; nullopt if it does not.
  std::optional<Role> role(std::size_t position, std::size_t array) const {
    return roles_[position % step_.parts.size()][array];
  }
  /// Whether anybody reads the values that the array has before the part at `position`.
  bool is_needed(std::size_t position, std::size_t array) const { return needed_[position][array]; }
  /// What a part of the host accesses, in regions that do not touch.
  std::vector<AccessOfHost> accesses(const HostPart&) const;
  /// Whether kernels are handed parts of the array by mappings, which need not cover it.
  bool has_mapping(std::size_t array) const { return mapped_[array]; }
  /// What crosses the link when these arrays have a home, by position, and last what the host gets at the end.
  std::vector<PartFlow> with_homes(const std::vector<bool>& at_home) const;

 private:
  const std::variant<Job, HostPart>& part(std::size_t position) const {
    return step_.parts[position % step_.parts.size()];
  }
  std::vector<RegionOfHost> regions(const HostPart&, AccessMode least) const;
  bool is_left_to_host(std::size_t position, std::size_t array) const;
  RegionOfHost whole(std::size_t array) const { return {array, {Bytes{}, arrays_.arrays[array].array.size}}; }

  const Step& step_;
  const StepArrays& arrays_;
  std::vector<std::vector<std::optional<Role>>> roles_;  // by part of one repeat and array
  std::vector<bool> mapped_;                             // by array
  std::vector<std::vector<bool>> needed_;                // by position (one more than parts) and array
};

}  // namespace shiplap
