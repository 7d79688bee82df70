#include "shiplap/strategy/chunk_dependencies.hpp"

namespace shiplap {
namespace {

/// Number of the last predecessor; 0 without predecessors.
std::uint32_t last_predecessor(const DeviceRing::Placement& placement) {
  return placement.overwritten.empty() ? 0 : placement.overwritten.back().chunk;
}

}  // namespace

ChunkDependencies::ChunkDependencies(const Schedule& schedule, const Job& job, const ChunkMemory& memory,
                                     std::uint32_t chunks)
    : job_(job), memory_(memory), waits_(schedule) {
  ops.kernel.resize(chunks);
  ops.copy_in.assign(chunks, std::vector<OpId>(job.arrays.size()));
  ops.copy_out = ops.moved = ops.copy_in;
}

void ChunkDependencies::wait_for_memory(Op& op, std::size_t array, std::uint32_t chunk) {
  const Role role = job_.arrays[array].role;
  for (const auto& [predecessor, last_reader, mover] : memory_.placement(array, chunk).overwritten) {
    if (role != Role::in) {
      wait_for(op, ops.copy_out[predecessor][array]);
      continue;
    }
    for (std::uint32_t reader = predecessor; reader <= last_reader; ++reader) wait_for(op, ops.kernel[reader]);
    if (mover) wait_for(op, ops.moved[*mover][array]);
  }
}

void ChunkDependencies::wait_for_data_of(Op& op, std::size_t array, std::uint32_t chunk) {
  wait_for(op, ops.moved[chunk][array]);
  wait_for(op, ops.copy_in[chunk][array]);
}

void ChunkDependencies::wait_for_reach(Op& op, std::size_t array, std::uint32_t chunk) {
  for (std::uint32_t c = memory_.placement(array, chunk).first_brought_by; c <= chunk; ++c)
    wait_for_data_of(op, array, c);
}

// Whether the chunk has fresh bytes of the input. Without them nothing is copied, and the chunk need not wait for
// memory.
bool ChunkDependencies::is_copied(std::size_t array, std::uint32_t chunk) const {
  return memory_.fresh(array, chunk).length.count > 0;
}

bool ChunkDependencies::has_predecessor(std::uint32_t chunk) const {
  for (std::size_t a = 0; a < job_.arrays.size(); ++a)
    if (memory_.is_in_ring(a) && !memory_.placement(a, chunk).overwritten.empty() &&
        (!is_input(job_.arrays[a].role) || is_copied(a, chunk)))
      return true;
  return false;
}

// A chunk with a predecessor waits for the predecessor's kernel, which has waited for the arrays that stay. When chunks
// share data, the wait is always requested, and `wait_for` drops it where the order of the streams implies it.
void ChunkDependencies::wait_for_resident(Op& kernel, std::uint32_t chunk) {
  if (memory_.shares() || !has_predecessor(chunk)) wait_for(kernel, ops.last_resident);
}

// The kernel waits for the copies of its other arrays. These wait for the kernel of the last predecessor in their ring,
// or for the copy out after that kernel. Scratch needs a dependency of its own only when its last predecessor is a
// later chunk.
void ChunkDependencies::wait_for_scratch(Op& kernel, std::uint32_t chunk) {
  const auto waits_for_predecessors_of = [&](std::size_t a) {
    const Role role = job_.arrays[a].role;
    return memory_.is_in_ring(a) && role != Role::scratch && !memory_.placement(a, chunk).overwritten.empty() &&
           (role == Role::out || is_copied(a, chunk));
  };
  for (std::size_t a = 0; a < job_.arrays.size(); ++a) {
    if (job_.arrays[a].role != Role::scratch) continue;
    const DeviceRing::Placement& scratch = memory_.placement(a, chunk);
    bool implied = false;
    for (std::size_t other = 0; other < job_.arrays.size(); ++other)
      implied = implied || (waits_for_predecessors_of(other) &&
                            last_predecessor(memory_.placement(other, chunk)) >= last_predecessor(scratch));
    if (implied) continue;
    for (const auto& overwritten : scratch.overwritten) wait_for(kernel, ops.kernel[overwritten.chunk]);
  }
}

}  // namespace shiplap
