#include "shiplap/core/deadline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "shiplap/core/error.hpp"

namespace shiplap {

Seconds steady_time() { return std::chrono::steady_clock::now().time_since_epoch(); }

Seconds time_since_1970() { return std::chrono::system_clock::now().time_since_epoch(); }

void sleep_for(Seconds time) {
  constexpr Seconds longest{1e9};  // the system's clocks cannot count much more
  std::this_thread::sleep_for(std::min(time, longest));
}

Deadline::Deadline(Seconds at, std::function<Seconds()> now) : at_(at), now_(std::move(now)) {}

Deadline Deadline::in(Seconds limit) {
  if (!(limit >= Seconds{0}))
    throw UsageError(fmt::format("`limit` {} s: nothing ends within that time; give a time above 0, or 0 for no limit",
                                 limit.count()));
  return limit > Seconds{0} ? Deadline(steady_time() + limit) : Deadline();
}

Seconds Deadline::left() const { return now_ ? at_ - now_() : Seconds{std::numeric_limits<double>::infinity()}; }

}  // namespace shiplap
