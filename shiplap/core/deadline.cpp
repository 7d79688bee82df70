#include "shiplap/core/deadline.hpp"

#include <chrono>
#include <limits>
#include <utility>

namespace shiplap {

Seconds wall_clock() { return std::chrono::steady_clock::now().time_since_epoch(); }

Deadline::Deadline(Seconds at, std::function<Seconds()> now) : at_(at), now_(std::move(now)) {}

Seconds Deadline::left() const { return now_ ? at_ - now_() : Seconds{std::numeric_limits<double>::infinity()}; }

}  // namespace shiplap
