#include "shiplap/measure/primitives.hpp"

#include "shiplap/measure/rows.hpp"

namespace shiplap {

// How the time is spent at most (one H200, 55 GB/s; the budgets of a point are in measure.cpp and most points end
// earlier). The host writes or compares about 3 GiB a second.
//              quick (bar: 15 s)                      standard (bar: 90 s)
//   copies     2 × 12 points × 0.06 to 0.15 s .. 2 s  2 × 31 × 0.2 s ..... 12 s
//   bursts     2 × 9 × 0.06 s .................. 1 s  2 × 27 × 0.2 s ..... 11 s
//   duplex     2 × 5 × 0.06 s ................ 0.6 s  2 × 11 × 0.25 s ..... 5 s
//   waiting    3 × 2 × 0.06 s ................ 0.4 s  3 × 5 × 0.2 s ....... 3 s
//   chains     12 × 0.06 s .................. 0.7 s  12 × 0.2 s ........... 2 s
//   mapped     18 × 0.06 s .................. 1.1 s  72 × 0.1 to 0.2 s .. 11 s
//   beside     36 × 0.06 to 0.1 s ............. 3 s  240 × 0.1 to 0.2 s . 36 s
//   the rest   27 × 0.06 s .................. 1.6 s  29 × 0.2 s .......... 6 s
//   memory     4 GiB obtained, 9 GiB checked . 5.5 s  8 and 20 GiB ....... 10 s
std::span<const PrimitiveRow> primitive_rows() {
  static const std::vector<PrimitiveRow> table = [] {
    std::vector<PrimitiveRow> all;
    for (const auto rows : {link_rows(), launch_rows(), zero_copy_rows(), kernel_rows()})
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
