#include "shiplap/measure/primitives.hpp"

#include "shiplap/measure/rows.hpp"

namespace shiplap {

// Both visits of all rows should take at most 90 s (15 s for a quick measurement). They took 91 s, and 17 s, on one
// H100 (results/h100/blocks/times.txt).
std::span<const PrimitiveRow> primitive_rows() {
  static const std::vector<PrimitiveRow> table = [] {
    std::vector<PrimitiveRow> all;
    for (const auto rows :
         {link_rows(), memory_kind_rows(), managed_rows(), host_rows(), call_rows(), numa_rows(), peer_rows(),
          launch_rows(), submission_rows(), zero_copy_rows(), kernel_rows(), event_rows(), block_rows(), beside_rows()})
      all.insert(all.end(), rows.begin(), rows.end());
    return all;
  }();
  return table;
}

std::span<const Primitive> primitives() {
  static const std::vector<Primitive> table = [] {
    std::vector<Primitive> result;
    for (const PrimitiveRow& row : primitive_rows()) result.push_back(row.primitive);
    return result;
  }();
  return table;
}

}  // namespace shiplap
