#include "shiplap/model/loggp.hpp"

#include <algorithm>
#include <string>

#include "shiplap/core/error.hpp"

namespace shiplap::loggp {
namespace {

struct Sums {
  double count = 0;
  double bytes = 0;
  double further = 0;  // messages after the first of each sample
  Seconds time{0};
};

Sums sums(std::span<const Sample> samples) {
  Sums out;
  for (const Sample& s : samples) {
    out.count += 1;
    out.bytes += static_cast<double>(s.total.count);
    out.further += s.messages - 1.0;
    out.time += s.time;
  }
  return out;
}

void require(bool holds, const char* what) {
  if (!holds) throw UsageError(std::string("LogGP fit: ") + what);
}

void require_sound(const Samples& s) {
  require(!s.minimal.empty(), "there are no minimal transfers, so L+o is unknown; add some");
  require(!s.large.empty(), "there are no large transfers, so G is unknown; add some");
  require(!s.bursts.empty(), "there are no transfers in several messages, so g is unknown; add some");
  const auto single = [](const Sample& sample) { return sample.messages == 1; };
  require(std::ranges::all_of(s.minimal, single) && std::ranges::all_of(s.large, single),
          "minimal and large transfers must be single messages");
  require(std::ranges::all_of(s.bursts, [](const Sample& sample) { return sample.messages >= 2; }),
          "a burst needs 2 messages or more");
  const Bytes largest_minimal = std::ranges::max(s.minimal, {}, &Sample::total).total;
  require(std::ranges::all_of(s.large, [&](const Sample& sample) { return sample.total > largest_minimal; }),
          "large transfers must be larger than the minimal ones");
}

Seconds gap(std::span<const Sample> bursts, Seconds latency_overhead, PerByte per_byte) {
  const Sums all = sums(bursts);
  return (all.time - all.count * latency_overhead - Seconds{all.bytes * per_byte.seconds}) / all.further;
}

}  // namespace

Seconds transfer(const Parameters& p, Bytes total, std::uint32_t messages) {
  return p.latency_overhead + total * p.per_byte + p.gap * (messages - 1.0);
}

Fit fit(const Samples& samples) {
  require_sound(samples);
  const Sums minimal = sums(samples.minimal);
  const Sums large = sums(samples.large);
  const Seconds mean_time = minimal.time / minimal.count;
  const double mean_bytes = minimal.bytes / minimal.count;
  Fit out;
  Parameters& p = out.parameters;
  p.per_byte = {(large.time - large.count * mean_time).count() / (large.bytes - large.count * mean_bytes)};
  p.latency_overhead = mean_time - Seconds{mean_bytes * p.per_byte.seconds};
  p.gap = gap(samples.bursts, p.latency_overhead, p.per_byte);
  for (const auto& group : {samples.minimal, samples.large, samples.bursts}) {
    for (const Sample& s : group) {
      const double relative = transfer(p, s.total, s.messages) / s.time - 1;
      out.residuals.push_back({s.total, s.messages, relative});
      out.worst_over = std::max(out.worst_over, relative);
      out.worst_under = std::min(out.worst_under, relative);
    }
  }
  return out;
}

Parameters as_published::fit(const Samples& samples, std::uint32_t runs) {
  require_sound(samples);
  const Sums minimal = sums(samples.minimal);
  const Sums large = sums(samples.large);
  Parameters p;
  p.latency_overhead = minimal.time / minimal.count;
  p.per_byte = {(large.time - large.count * runs * p.latency_overhead).count() / large.bytes};
  p.gap = loggp::gap(samples.bursts, p.latency_overhead, p.per_byte);
  return p;
}

}  // namespace shiplap::loggp
