#include "shiplap/workload/blocks.hpp"

#include <cstring>
#include <type_traits>

namespace shiplap {
namespace {

template <class Index>
std::uint64_t at(const void* data, std::uint64_t k) {
  Index index{};
  std::memcpy(&index, static_cast<const Index*>(data) + k, sizeof(Index));
  if constexpr (std::is_signed_v<Index>) return static_cast<std::uint64_t>(std::int64_t{index});
  return index;
}

}  // namespace

std::uint64_t IndexList::operator[](std::uint64_t k) const {
  switch (width) {
    case 1:
      return is_signed ? at<std::int8_t>(data, k) : at<std::uint8_t>(data, k);
    case 2:
      return is_signed ? at<std::int16_t>(data, k) : at<std::uint16_t>(data, k);
    case 4:
      return is_signed ? at<std::int32_t>(data, k) : at<std::uint32_t>(data, k);
    default:
      return is_signed ? at<std::int64_t>(data, k) : at<std::uint64_t>(data, k);
  }
}

}  // namespace shiplap
