// Which links of other GPUs a job's copies may also go over, and what that costs these GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/schedule/schedule.hpp"
#include "shiplap/strategy/relay.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

struct Profile;
struct SearchSpace;

/// Most memory that the rings of one direction take on a relaying GPU.
inline constexpr Bytes most_relay_ring = 32_MiB;

/// Number of GPUs that choices of the space use: those that share the job and those that relay, from the first on.
std::uint32_t gpus_of(const SearchSpace&);

/// The copies that are divided.
struct RelayedCopies {
  bool in = false;        ///< whether copies go to the GPU
  bool out = false;       ///< whether copies go to the host
  std::uint16_t gpu = 0;  ///< the GPU, by its number in the profile
};
/// The copies of a job that runs on GPU 0.
RelayedCopies copies_of(const Job&);

/// The time that relaying adds at most to a kernel on the relaying GPU which waits for its memory all the
/// time, as a fraction: a relayed byte is written to that memory and read from it once, as in a copy inside it, while
/// the link moves it at its rate. nullopt where the profile lacks a rate.
std::optional<double> slowdown_of_relaying(const RelayedCopies&, const Profile&, std::uint16_t relaying);

/// Ways to divide copies among the link of their GPU and those of `relays`: through one of them, through two and so on,
/// each for the share of its link in the rates that all reach together (max-min fair under `Profile::shared`), in
/// pieces of several sizes. The next one is that with which the most is reached. Those with which no more is reached,
/// because they share an uplink, are left out, and so are GPUs whose kernels would lose more than `max_slowdown` and
/// those of unknown link or unknown copies from GPU to GPU.
std::vector<Relay> relays_worth_trying(const RelayedCopies&, const Profile&, std::span<const std::uint16_t> relays,
                                       std::optional<double> max_slowdown);

/// The same with other shares: those of all relaying GPUs multiplied by `factor`, as long as bytes are left to the own
/// link.
Relay with_shares_times(Relay, double factor);
/// Factors by which the share of the link may be too large or too small: pieces have costs of their own.
inline constexpr double share_factors[]{0.9, 0.94, 0.97, 0.985, 1.015, 1.03};

/// A single copy of this size as a schedule. Its first buffers are the memory of the host and that of the GPU.
Schedule schedule_of_copy(Bytes, const RelayedCopies&, const Relay&);
/// Whether copies that are divided save enough, as predicted, to use other GPUs for them: more than a tenth of the time
/// and more than 20 µs. What waits for another GPU takes up to 20 µs longer than predicted on H200s, and large copies
/// up to 7 % (docs/explanation/accuracy.md).
bool pays(Seconds relayed, Seconds direct);

/// The relay with which a single copy of this size, in one direction, is simulated to be the fastest; one without GPUs
/// where that does not pay.
Relay fastest_relay(Bytes, const RelayedCopies&, const Profile&, std::span<const std::uint16_t> relays,
                    std::optional<double> max_slowdown);

/// The profile with links from the host to GPU 0 as fast as its own and those of `relays` together, as they are
/// simulated to copy large arrays, for what plans with a link and not with copies.
Profile with_relayed_link(const Profile&, std::span<const std::uint16_t> relays);

/// What relaying means for the GPUs that relay, as a sentence; "" for a choice without relays.
std::string cost_of_relaying(const RelayedCopies&, const Profile&, const Relay&);

}  // namespace shiplap
