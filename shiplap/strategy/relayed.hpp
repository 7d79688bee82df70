// Divides the copies of a schedule among the links of several GPUs.
#pragma once

#include <cstdint>
#include <string>

#include "shiplap/strategy/relay.hpp"

namespace shiplap {

struct Schedule;

/// The relay as a text, such as "49 % of each copy through GPU 1 in pieces of 4 MiB".
std::string to_string(const Relay&);

/// Number of pieces that a relaying GPU holds at a time in each direction. One arrives while another leaves, and two
/// more bridge the time from the end of a copy to the start of the next.
inline constexpr std::uint32_t relay_slots = 4;

/// The schedule with its copies between pinned memory and GPUs divided. A relaying GPU has a ring of `relay_slots`
/// pieces in each direction that is used. A piece is copied between the host and the ring over the link of the relaying
/// GPU, and between the ring and its GPU by a copy between the two GPUs. A copy of whose bytes no share is a whole
/// piece goes over its own link alone, and so do copies of pageable and managed memory, and batches. Every op keeps its
/// stream, agent and chunk. The pieces of a copy have its agent and chunk. The result is sound if the schedule is.
/// Throws UsageError unless the shares are above 0 and their sum is below 1, the piece has bytes and the GPUs differ;
/// Unsupported for a graph, which is of one GPU.
Schedule relayed(Schedule, const Relay&);

}  // namespace shiplap
