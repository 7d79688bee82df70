// Relays: the links of other GPUs that copies between the host and a GPU also go over.
#pragma once

#include <cstdint>
#include <vector>

#include "shiplap/core/units.hpp"

namespace shiplap {

/// A GPU that relays, and how much.
struct RelayShare {
  std::uint16_t gpu = 0;  ///< the GPU, as in Place::gpu
  double share = 0;       ///< part of the bytes of every copy that goes over its link, above 0
  friend bool operator==(const RelayShare&, const RelayShare&) = default;
};

/// How copies are divided among the link of their own GPU and those of other GPUs (relayed.hpp).
struct Relay {
  std::vector<RelayShare> through{};  ///< the GPUs that relay; empty: every copy goes over the link of its own GPU
  Bytes piece{};                      ///< largest size of a piece
  friend bool operator==(const Relay&, const Relay&) = default;
};

}  // namespace shiplap
