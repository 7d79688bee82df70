#include "shiplap/plan/link_states.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "shiplap/sim/constants.hpp"

namespace shiplap {
namespace {

/// Keeps rates finite where a time per byte or a time is 0.
constexpr double least_seconds = 1e-18;

double rate_of_time(double seconds) { return 1 / std::max(seconds, least_seconds); }
double fastest(const Interval<PerByte>& per_byte) { return rate_of_time(per_byte.low.seconds); }
double fastest(const std::vector<ZeroCopyRate>& rows) {
  double most = 0;
  for (const ZeroCopyRate& row : rows) most = std::max(most, row.rate.high.bytes_per_second);
  return most;
}
/// Between two rows of times the time per byte is between those of the rows, and outside them it is no less.
double fastest(const std::vector<TimeAt>& rows) {
  double most = 0;
  for (const TimeAt& row : rows) most = std::max(most, in_bytes(row.size) * rate_of_time(row.time.low.count()));
  return most;
}
double fastest(const std::vector<RateOfThreads>& rows) {
  double most = 0;
  for (const RateOfThreads& row : rows) most = std::max(most, row.rate.high.bytes_per_second);
  return most;
}

/// Both directions at the same time at the rates of copies: duplex where the profile has it, else each direction as
/// alone.
LinkState both_directions(const LinkModel& link) {
  return {fastest(link.h2d.duplex ? link.h2d.duplex->per_byte : link.h2d.per_byte),
          fastest(link.d2h.duplex ? link.d2h.duplex->per_byte : link.d2h.per_byte)};
}

/// The states with copies alone: H2D, D2H, and duplex. The copy engines serve copies of pageable memory and moving
/// pages as well.
std::vector<LinkState> copy_states(const LinkModel& link, const LinkUse& use) {
  LinkState alone{fastest(link.h2d.per_byte), fastest(link.d2h.per_byte)};
  LinkState both = both_directions(link);
  const auto also = [](LinkState& state, double in, double out) {
    state = {std::max(state.in, in), std::max(state.out, out)};
  };
  if (use.pageable && link.pageable) {
    const PageableModel& rows = *link.pageable;
    also(alone, fastest(rows.h2d), fastest(rows.d2h));
    if (rows.both.empty())
      also(both, fastest(rows.h2d), fastest(rows.d2h));
    else
      also(both, fastest(rows.both), fastest(rows.both));
  }
  if (use.managed && link.managed) {
    also(alone, fastest(link.managed->prefetch_h2d), fastest(link.managed->prefetch_d2h));
    also(both, fastest(link.managed->prefetch_h2d), fastest(link.managed->prefetch_d2h));
  }
  std::vector<LinkState> states{{alone.in, 0}, {0, alone.out}};
  if (use.two_engines) states.push_back(both);
  return states;
}

/// Limits of a zero-copy kernel: it reads at most `in`, writes at most `out`, and both together at most `sum`.
struct KernelLimits {
  double in = 0;
  double out = 0;
  double sum = 0;
};
/// The states of a kernel within its limits concurrent with copies at given rates, of which all others are mixtures.
void add_corners(std::vector<LinkState>& states, const KernelLimits& kernel, const LinkState& copies) {
  const double out_of_rest = std::clamp(kernel.sum - kernel.in, 0.0, kernel.out);
  const double in_of_rest = std::clamp(kernel.sum - kernel.out, 0.0, kernel.in);
  states.push_back({kernel.in + copies.in, out_of_rest + copies.out});
  states.push_back({in_of_rest + copies.in, kernel.out + copies.out});
}

/// Rates of a kernel in one direction and of copies in the other one at the same time.
struct RatesBeside {
  double kernel = 0;
  double copy = 0;
};
/// The rows of a table. Without a table, kernel and copies are assumed not to slow each other down.
std::vector<RatesBeside> rates_beside(const std::vector<ZeroCopyBeside>& rows, double kernel_alone) {
  if (rows.empty()) return {{kernel_alone, std::numeric_limits<double>::max()}};
  std::vector<RatesBeside> rates;
  for (const ZeroCopyBeside& row : rows)
    rates.push_back({row.kernel.high.bytes_per_second, row.copy.high.bytes_per_second});
  return rates;
}

/// The states with kernels that only access host memory, by the tables of the profile and the simulator's rules: alone,
/// and concurrent with copies in the opposite direction, in the same one, and in both.
void add_zero_copy_states(std::vector<LinkState>& states, const ZeroCopyModel& model,
                          const std::vector<LinkState>& copies) {
  const KernelLimits alone{fastest(model.read), fastest(model.write), 2 * fastest(model.both)};
  add_corners(states, alone, {});
  const double shared_in = alone.in / sim::slowdown_in_same_direction;
  const double shared_out = alone.out / sim::slowdown_in_same_direction;
  for (const LinkState& copy : copies)
    for (const RatesBeside& reads : rates_beside(model.read_beside_d2h, alone.in))
      for (const RatesBeside& writes : rates_beside(model.write_beside_h2d, alone.out)) {
        // A measured rate concurrent with copies may exceed the one alone by what was not measured exactly.
        KernelLimits kernel{reads.kernel, writes.kernel, alone.sum};
        if (copy.in > 0) kernel.in = copy.out > 0 ? std::min(shared_in, reads.kernel) : shared_in;
        if (copy.out > 0) kernel.out = copy.in > 0 ? std::min(shared_out, writes.kernel) : shared_out;
        const LinkState beside_reads{std::min(copy.in, shared_in), std::min(copy.out, reads.copy)};
        const LinkState beside_writes{std::min(copy.in, writes.copy), std::min(copy.out, shared_out)};
        add_corners(states, {kernel.in, 0, kernel.in}, beside_reads);
        add_corners(states, {0, kernel.out, kernel.out}, beside_writes);
        add_corners(states, kernel,
                    {std::min(beside_reads.in, beside_writes.in), std::min(beside_reads.out, beside_writes.out)});
      }
}

/// The states with the job's own kernel as it was measured: alone, and concurrent with the copies of the arrays that it
/// does not access in host memory.
void add_measured_states(std::vector<LinkState>& states, const MeasuredZeroCopy& kernel, const LinkBytes& bytes,
                         const std::vector<LinkState>& copies) {
  const double in = (kernel.in ? bytes.inputs : 0) + (kernel.out ? bytes.inouts : 0);
  const double out = kernel.out ? bytes.inouts + bytes.outputs : 0;
  states.push_back({in * rate_of_time(kernel.alone), out * rate_of_time(kernel.alone)});
  const bool copied_in = (kernel.in ? 0 : bytes.inputs) + (kernel.out ? 0 : bytes.inouts) > 0;
  const bool copied_out = !kernel.out && bytes.inouts + bytes.outputs > 0;
  const double factor = std::max(kernel.copies_beside, least_seconds);
  for (const LinkState& copy : copies)
    if ((copied_in || copy.in == 0) && (copied_out || copy.out == 0))
      states.push_back(
          {in * rate_of_time(kernel.beside) + copy.in / factor, out * rate_of_time(kernel.beside) + copy.out / factor});
}

}  // namespace

std::vector<LinkState> link_states(const LinkModel& link, const LinkUse& use, const LinkBytes& bytes,
                                   const std::vector<MeasuredZeroCopy>& measured) {
  const std::vector<LinkState> copies = copy_states(link, use);
  std::vector<LinkState> states = copies;
  if (knows_zero_copy(link))
    add_zero_copy_states(states, *link.zero_copy, copies);
  else
    states.push_back(both_directions(link));
  for (const MeasuredZeroCopy& kernel : measured) add_measured_states(states, kernel, bytes, copies);
  if (use.managed && link.managed) {
    states.push_back({fastest(link.managed->demand_h2d), 0});
    states.push_back({0, fastest(link.managed->demand_d2h)});
  }
  return states;
}

namespace {

/// How much of the job's bytes in each direction moves in a second.
struct Share {
  double in = 0;
  double out = 0;
};

/// The states that no other one beats in both directions, by falling `in` and rising `out`.
std::vector<Share> best_states(std::vector<Share> states) {
  std::ranges::sort(states,
                    [](const Share& a, const Share& b) { return std::pair(b.in, b.out) < std::pair(a.in, a.out); });
  std::vector<Share> best;
  for (const Share& state : states)
    if (best.empty() || state.out > best.back().out) best.push_back(state);
  return best;
}

}  // namespace

// A linear program with two constraints has a solution that uses at most two states. Either one state lasts all the
// time, or two states share it so that both directions need the same time.
Seconds least_time(const LinkBytes& bytes, const std::vector<LinkState>& states) {
  if (bytes.in <= 0 && bytes.out <= 0) return Seconds{0};
  constexpr double unlimited = std::numeric_limits<double>::max();
  std::vector<Share> shares;
  for (const LinkState& s : states)
    shares.push_back({bytes.in > 0 ? s.in / bytes.in : unlimited, bytes.out > 0 ? s.out / bytes.out : unlimited});
  const std::vector<Share> best = best_states(std::move(shares));
  double most = 0;  // largest fraction of the job's bytes that is moved in a second
  for (const Share& a : best) {
    most = std::max(most, std::min(a.in, a.out));
    if (bytes.in <= 0 || bytes.out <= 0) continue;
    for (const Share& b : best) {
      const double longer_in_a = a.out - a.in;
      const double longer_in_b = b.in - b.out;
      if (longer_in_a <= 0 || longer_in_b <= 0) continue;
      const double part_of_a = longer_in_b / (longer_in_a + longer_in_b);
      most = std::max(most, part_of_a * a.in + (1 - part_of_a) * b.in);
    }
  }
  return Seconds{1 / most};
}

}  // namespace shiplap
