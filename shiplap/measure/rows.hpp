// What the files of the table of primitives share: their rows, and how points are written down.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "shiplap/measure/primitives.hpp"

namespace shiplap {

std::span<const PrimitiveRow> link_rows();
std::span<const PrimitiveRow> launch_rows();
std::span<const PrimitiveRow> zero_copy_rows();
std::span<const PrimitiveRow> kernel_rows();

inline unsigned whole(const Arguments& arguments, const char* name) {
  return static_cast<unsigned>(arguments.at(name));
}
inline Bytes bytes(const Arguments& arguments) { return {static_cast<std::uint64_t>(arguments.at("bytes"))}; }
inline double number(Bytes size) { return static_cast<double>(size.count); }
inline bool quick(const Setting& setting) { return setting.effort == Effort::quick; }

/// Powers of two from `first` to `last`, or every `stride`-th of them.
inline std::vector<Bytes> powers_of_two(Bytes first, Bytes last, unsigned stride = 1) {
  std::vector<Bytes> sizes;
  for (Bytes size = first; size <= last; size = {size.count << stride}) sizes.push_back(size);
  return sizes;
}

inline std::vector<Bytes> no_larger_than(Bytes largest, std::vector<Bytes> sizes) {
  std::erase_if(sizes, [&](Bytes size) { return size > largest; });
  return sizes;
}

}  // namespace shiplap
