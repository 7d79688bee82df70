// The names of the publications on which the models build, as predictions and answers have them.
#pragma once

namespace shiplap::papers {

inline constexpr const char* van_werkhoven = "van-werkhoven-2014";  ///< performance models for CPU-GPU data transfers
inline constexpr const char* gomez_luna = "gomez-luna-2012";        ///< performance models for asynchronous transfers
inline constexpr const char* harris = "harris-2012";                ///< how to implement performance metrics
inline constexpr const char* eth = "eth-2025";                      ///< overlapping data transfer and computation

}  // namespace shiplap::papers
