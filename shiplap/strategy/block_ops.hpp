// Ops of arrays that are blocks of a pool.
#pragma once

#include <cstddef>

#include "shiplap/schedule/schedule.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "shiplap/workload/job.hpp"

namespace shiplap {

/// Adds the lists of all arrays that are blocks of a pool, in the order of the arrays.
void add_lists(Schedule&, const Job&);

/// The move of `bytes` of the array between host memory and the region `packed`: a Copy (with `by_host`, a HostCopy)
/// for a contiguous array, a BlockCopy for blocks. Its buffer on the host is that of the array.
decltype(Op::what) move_to(const Job&, std::size_t array, const ByteRange& bytes, const Region& packed, const Mover&,
                           bool by_host = false);
/// The opposite of `move_to`: the move of `packed` to its place in the array.
decltype(Op::what) move_back(const Job&, std::size_t array, const ByteRange& bytes, const Region& packed, const Mover&,
                             bool by_host = false);

/// Throws Unsupported that names the array for a job with blocks: `reason` completes the sentence.
void require_contiguous(const Job&, std::string_view strategy, std::string_view reason);

}  // namespace shiplap
