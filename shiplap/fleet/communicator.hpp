// Ranks of a parallel program, and messages between them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "shiplap/core/deadline.hpp"

namespace shiplap {

/// Most ranks of a check. Rank 0 keeps the state of each of them, and a folder where messages are files.
inline constexpr std::size_t most_ranks = std::size_t{1} << 17;

/// A text from a rank.
struct RankMessage {
  std::size_t from = 0;
  std::string text{};
};

/// A rank and its connection to the others. Messages between two ranks arrive in the order in which they were sent.
/// A rank that has died or hangs delays nobody but those who wait for its message.
class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual std::size_t rank() const = 0;  ///< number of this rank, from 0
  virtual std::size_t size() const = 0;  ///< number of ranks
  /// Sends a text, and does not wait until it is received. Throws Error when the connection is broken.
  virtual void send(std::size_t to, const std::string& text) = 0;
  /// The next message; nullopt when none arrives by the deadline. Throws Error when the connection is broken.
  virtual std::optional<RankMessage> receive(const Deadline&) = 0;
  /// Says that this rank has died or hangs, so that nobody waits for it and nothing is kept for it.
  virtual void abandon(std::size_t rank) = 0;
  /// Whether this rank is known to have ended, so that it sends nothing any more.
  virtual bool has_ended(std::size_t) const { return false; }
};

}  // namespace shiplap
