// The names that a recording has for kinds of orders and memory.
#pragma once

#include <array>

#include "shiplap/advise/recording.hpp"
#include "shiplap/schedule/names.hpp"

namespace shiplap {

inline constexpr std::array order_names{std::pair{RecordedOrder::Kind::record, "record"sv},
                                        std::pair{RecordedOrder::Kind::stream_wait, "stream_wait"sv},
                                        std::pair{RecordedOrder::Kind::event_wait, "event_wait"sv},
                                        std::pair{RecordedOrder::Kind::host_wait, "host_wait"sv},
                                        std::pair{RecordedOrder::Kind::device_wait, "device_wait"sv}};
/// The kinds of memory that copies of a program are from or to.
inline constexpr EnumNames<MemoryKind> recorded_memories =
    EnumNames<MemoryKind>(memory_names).first(array_memories + 1);

}  // namespace shiplap
