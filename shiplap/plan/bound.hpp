// The lower bound of a job's time on a node, which holds for every strategy.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "shiplap/core/units.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

struct Profile;

/// A time that no strategy of shiplap is below, neither predicted nor observed on the node that the profile describes,
/// and no closed form of a paper whose assumptions the job meets (see ClosedForm::assumption). It is the longer of
/// `link` and `kernel`, on the GPU for which this time is longest. Both are computed with the fast end of every
/// interval, so the bound has no interval itself.
///
/// `link`: every byte of the arrays that are copied in chunks crosses the link of its GPU once in each direction
/// that its role says, and every GPU gets all of each array that stays on the GPU. At every moment the link is in
/// one of the states whose rates the profile or the job knows, or slower: copies in one direction; copies in both
/// directions, on a GPU with two copy engines; a zero-copy kernel that reads, writes or does both; such a kernel
/// concurrent with copies. A zero-copy kernel has the rates of the profile's tables and those that were measured of the
/// job's own kernel. Where the profile has no such tables, a zero-copy kernel moves both directions at the rates of
/// copies, also on a GPU with one copy engine, as eq 6 of van Werkhoven et al. 2014 has it. Jobs of pageable or managed
/// arrays have the rates of staging by the driver and of moving pages too, beside those of pinned memory, because the
/// arrays can be pinned. The link's time is the shortest mixture of these states that moves the bytes of both
/// directions (a linear program of two constraints, solved exactly). A kernel and copies that move bytes in the same
/// direction at the same time are a state too, where the simulator knows their rates. Arrays that stay on the GPU are
/// there before the first launch, and carried ones leave it after the last one, so nothing moves in the other direction
/// meanwhile. The first byte of pinned memory comes after the latency of a copy (L+o) or that of a launch, whichever is
/// shorter, because nothing else can start a transfer.
///
/// `kernel`: every item is computed once. The time per item is the least that any launch of at most all items has by
/// the kernel's cost: a chunk whose data stay in the cache counts, and so does a zero-copy kernel, which is never
/// faster than the kernel on resident data. Launches that run at the same time share the GPU's rate, so together they
/// are no faster per item than the fastest launch. A launch is never shorter than the floor of the cost, and the launch
/// latency and the arrays that stay on the GPU precede the first launch; carried arrays follow the last one.
///
/// The bound does not contain costs that some strategy avoids: gaps and latencies of further copies, handovers,
/// submission, copies by host threads, filling and draining. The bytes of a mapped array are counted over at most 4096
/// chunks, so elements between the reaches of smaller chunks count as moved.
struct Bound {
  Seconds time{0};    ///< the longer of `link` and `kernel`
  Seconds link{0};    ///< least time of the link for all bytes
  Seconds kernel{0};  ///< least time of the kernel for all items
  /// "the link" or "the kernel": which of the two is longer.
  std::string set_by() const { return link >= kernel ? "the link" : "the kernel"; }
};
/// The bound of a job whose items are divided among `gpus` GPUs, and whose copies may also go over the links of the
/// GPUs `relays`: all states of the link are faster then by the factor by which the rates of all these links together
/// are larger than that of its own, in the direction in which that is most. Throws Unsupported that names the link when
/// the profile lacks it, and Error when the cost of the kernel is unknown.
Bound bound(const Job&, const Profile&, std::uint32_t gpus = 1, std::span<const std::uint16_t> relays = {});

}  // namespace shiplap
