#include "shiplap/measure/primitives.hpp"

#include "shiplap/measure/rows.hpp"

namespace shiplap {

// Seconds that the rows took on one H200 (55 GB/s), with budgets of 0.06 and 0.1 s for the samples of a point; the
// bars are 15 and 90 s. A point takes another 0.1 s to be made ready and checked.
//                                       quick  standard
//   copies, bursts, duplex, waiting         4        11
//   other kinds of memory                 0.3         3
//   managed                               0.4         3
//   host threads, rings, calls            0.4         9
//   launches and chains                     1         2
//   zero-copy alone                       1.4         8
//   zero-copy beside copies                 5        38
std::span<const PrimitiveRow> primitive_rows() {
  static const std::vector<PrimitiveRow> table = [] {
    std::vector<PrimitiveRow> all;
    for (const auto rows : {link_rows(), memory_kind_rows(), managed_rows(), host_rows(), numa_rows(), peer_rows(),
                            launch_rows(), submission_rows(), zero_copy_rows(), kernel_rows()})
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
