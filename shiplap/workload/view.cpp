#include "shiplap/workload/view.hpp"

#include <fmt/format.h>

#include "shiplap/workload/described_job.hpp"

namespace shiplap {

void outside_of_view(const char* array, std::uint64_t index, std::uint64_t first, std::uint64_t end, bool writable) {
  throw detail::OutsideOfView(
      fmt::format(
          "{}[{}] is not among the elements [{}, {}) that this chunk reaches: describe what its kernel {}", array,
          index, first, end,
          writable ? "writes, with `mapped_by` or `.carried`" : "reads, with `halo`, `mapped_by` or `.broadcast`"),
      array, index);
}

}  // namespace shiplap
