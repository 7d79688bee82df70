// Copies between pinned host memory and a GPU in a stream of the caller, over all links of the node.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "shiplap/core/units.hpp"
#include "shiplap/strategy/relay.hpp"

namespace shiplap {

struct Node;

/// Which links copies may use.
struct CopyOptions {
  /// Further GPUs of the device, by their numbers in it, whose links may carry copies too (see Relay); nullopt: all
  /// that nobody else uses when the Copier is made. With an empty list every copy goes over the link of its own GPU.
  std::optional<std::vector<std::uint16_t>> relays{};
  /// Most time, as a fraction, that relaying may add to a kernel on a relaying GPU that waits for its memory all the
  /// time.
  std::optional<double> max_slowdown{};
};

/// Copies between pinned host memory and GPUs of a node. A copy is divided among the link of its GPU and those of
/// others where the profile of the node predicts that this is faster. It keeps what it has prepared for the sizes that
/// were copied last, and on each relaying GPU at most 32 MiB for each direction of each GPU and each number of GPUs
/// that relay. A GPU without that memory relays nothing. It must not be used by several threads at once.
class Copier {
 public:
  /// Keeps the node. Throws UsageError for a node without a device or without a profile, and for relays that are
  /// named twice or that the device lacks.
  explicit Copier(const Node&, CopyOptions = {});
  ~Copier();
  Copier(Copier&&) noexcept;
  Copier& operator=(Copier&&) noexcept;

  /// Enqueues a copy of `size` bytes in `stream`, a cudaStream_t of any GPU, and returns. The copy begins when the work
  /// that is in the stream has ended, and work that is enqueued there later begins when the copy has ended. One of the
  /// addresses is in pinned host memory and the other on a GPU of the device. On a virtual device the copy has ended on
  /// return. In a stream that is being captured it goes over its own link, because a graph is of one GPU. The first
  /// copy of a size takes longer, because it is simulated and prepared.
  ///
  /// Returns how the copy was divided. Throws UsageError for other memory, and Error when CUDA refuses a call; some of
  /// the bytes may be copied then.
  Relay copy(void* destination, const void* source, Bytes size, void* stream);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Copies by a Copier with the default options, which the calling thread keeps until it copies on another node.
Relay copy(const Node&, void* destination, const void* source, Bytes size, void* stream);

}  // namespace shiplap
