// Adds the ops of all chunks of one GPU in the order of their submission: copies in, kernel and copies out of every
// chunk.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "shiplap/strategy/chunk_dependencies.hpp"
#include "shiplap/strategy/chunk_streams.hpp"

namespace shiplap {

/// Adds the chunks of one GPU to a schedule that has the buffers of the job's arrays and its kernel.
class ChunkPipeline {
 public:
  /// Adds agents, buffers and streams. Keeps references to the schedule, the job, the choice and the limits. Throws as
  /// `chunked_schedule` does.
  ChunkPipeline(Schedule&, const Job&, const Choice&, const Limits&, const ZeroCopyArrays&, const Staging&,
                GpuChunks chunks);
  // Members hold references to other members.
  ChunkPipeline(const ChunkPipeline&) = delete;
  ChunkPipeline& operator=(const ChunkPipeline&) = delete;

  void add_ops();

 private:
  /// Copies of one chunk in one direction, by array.
  using Copies = std::vector<std::pair<std::size_t, Op>>;

  std::uint32_t chunks_at_once() const;
  Op op_in(const Region& from, const Region& to, std::uint32_t chunk) const;
  Op op_out(const Region& from, const Region& to, std::uint32_t chunk) const;

  void copy_resident_arrays();
  void copy_carried_arrays_back();
  void copy_in(std::uint32_t chunk);
  void copy_in_pieces(std::size_t array, const ByteRange& bytes, const Region& to, std::uint32_t chunk);
  void move_shared_bytes(std::size_t array, std::uint32_t chunk);
  Bytes copy_from_prefix(std::size_t array, std::uint32_t chunk);
  void launch(std::uint32_t chunk);
  void copy_out(std::uint32_t chunk);
  void copy_out_pieces(std::size_t array, const ByteRange& bytes, const Region& from, std::uint32_t chunk);
  void add_copies(Copies&& copies, std::vector<OpId>& ids);
  void require_batches() const;

  Schedule& schedule_;
  const Job& job_;
  const Choice& choice_;
  const Limits& limits_;
  GpuChunks chunks_;
  AgentId main_;  // the agent that submits all ops when no staging threads do
  StagingRings staging_;
  ChunkMemory memory_;
  std::vector<std::size_t> inputs_;   // arrays that are copied in, in the order of their copies
  std::vector<std::size_t> outputs_;  // arrays that are copied out, in the order of their copies
  ChunkStreams streams_;
  ChunkDependencies dependencies_;
  bool carries_ = false;  // whether an array is carried from chunk to chunk
};

}  // namespace shiplap
