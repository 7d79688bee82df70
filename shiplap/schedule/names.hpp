// The names of enumerators of schedules in files and parameters.
#pragma once

#include <array>

#include "shiplap/core/enum_names.hpp"
#include "shiplap/schedule/blocks.hpp"
#include "shiplap/schedule/timeline.hpp"

namespace shiplap {

/// All kinds of memory. The arrays of a user can be in the first `array_memories`, and `device` is the next.
inline constexpr std::array memory_names{std::pair{MemoryKind::pageable, "pageable"sv},
                                         std::pair{MemoryKind::pinned, "pinned"sv},
                                         std::pair{MemoryKind::managed, "managed"sv},
                                         std::pair{MemoryKind::device, "device"sv},
                                         std::pair{MemoryKind::mapped, "mapped"sv},
                                         std::pair{MemoryKind::driver_pinned, "driver-pinned"sv},
                                         std::pair{MemoryKind::write_combined, "write-combined"sv}};
inline constexpr std::size_t array_memories = 3;
inline constexpr std::array engine_names{
    std::pair{Engine::copy_h2d, "copy H2D"sv},       std::pair{Engine::copy_d2h, "copy D2H"sv},
    std::pair{Engine::copy_shared, "copy shared"sv}, std::pair{Engine::copy_d2d, "copy D2D"sv},
    std::pair{Engine::compute, "compute"sv},         std::pair{Engine::host, "host"sv}};
inline constexpr std::array mover_names{
    std::pair{Mover::Kind::copies, "copies"sv}, std::pair{Mover::Kind::batch, "batch"sv},
    std::pair{Mover::Kind::strided, "strided"sv}, std::pair{Mover::Kind::kernel, "kernel"sv}};

/// The key in BlockModel::movers of a mover for a pool of this kind of memory, such as "batch pinned h2d".
std::string name_in_profile(const Mover&, MemoryKind pool, bool to_device);

constexpr EnumNames<MemoryKind> names_of(MemoryKind) {
  return EnumNames<MemoryKind>(memory_names).first(array_memories);
}
constexpr EnumNames<Engine> names_of(Engine) { return engine_names; }
constexpr EnumNames<Mover::Kind> names_of(Mover::Kind) { return mover_names; }

}  // namespace shiplap
