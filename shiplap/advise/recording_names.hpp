// The names that a recording has for kinds of orders and memory.
#pragma once

#include <array>
#include <utility>

#include "shiplap/advise/recording.hpp"

namespace shiplap {

inline constexpr std::array order_names{
    std::pair{RecordedOrder::Kind::record, "record"}, std::pair{RecordedOrder::Kind::stream_wait, "stream_wait"},
    std::pair{RecordedOrder::Kind::event_wait, "event_wait"}, std::pair{RecordedOrder::Kind::host_wait, "host_wait"},
    std::pair{RecordedOrder::Kind::device_wait, "device_wait"}};

inline constexpr std::array memory_names{
    std::pair{MemoryKind::pageable, "pageable"}, std::pair{MemoryKind::pinned, "pinned"},
    std::pair{MemoryKind::managed, "managed"}, std::pair{MemoryKind::device, "device"}};

}  // namespace shiplap
