// G and g of each direction while the other one is busy.
//
// The clock tells only when the later direction ends. In a run in which direction x has the more copies, x ends last:
// beside the other one it proceeds at its duplex period, then alone at its one-way period, which is known. The two runs
// (each direction once with more copies) determine the two duplex periods P = k·G₂ + g₂. The times are inverted with
// the same rules that define the parameters (docs/measuring.md): a fluid rate that changes when the other direction
// starts or ends, and gaps that are chosen when they begin.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "shiplap/core/error.hpp"
#include "shiplap/measure/fit.hpp"

namespace shiplap {
namespace {

struct Way {
  unsigned copies = 0;
  double latency = 0;
  double gap = 0;
  double per_byte = 0;
  double duplex_gap = 0;
  double duplex_per_byte = 0;
};

/// Ends of both directions when bursts of copies of `size` bytes start together.
std::array<double, 2> ends(double size, const std::array<Way, 2>& ways) {
  struct State {
    unsigned left;
    bool flowing;
    bool occupied;
    double start;      // of the next copy, when it does not flow
    double remaining;  // bytes, when it flows
    double end;
  };
  std::array<State, 2> states;
  for (std::size_t i = 0; i < 2; ++i) states[i] = {ways[i].copies, false, false, ways[i].latency, 0, 0};
  double now = 0;
  while (states[0].left + states[1].left > 0) {
    std::array<double, 2> rate{};
    std::array<double, 2> next{};
    for (std::size_t i = 0; i < 2; ++i) {
      rate[i] = states[1 - i].occupied ? ways[i].duplex_per_byte : ways[i].per_byte;
      next[i] = states[i].left == 0 ? std::numeric_limits<double>::infinity()
                : states[i].flowing ? now + states[i].remaining * rate[i]
                                    : states[i].start;
    }
    const std::size_t first = next[1] < next[0] ? 1 : 0;
    for (std::size_t i = 0; i < 2; ++i)
      if (states[i].flowing) states[i].remaining -= (next[first] - now) / rate[i];
    now = next[first];
    State& state = states[first];
    if (!state.flowing) {
      state.flowing = true;
      state.occupied = true;
      state.remaining = size;
      continue;
    }
    state.flowing = false;
    if (--state.left == 0) {
      state.occupied = false;
      state.end = now;
    } else {
      state.start = now + (states[1 - first].occupied ? ways[first].duplex_gap : ways[first].gap);
    }
  }
  return {states[0].end, states[1].end};
}

/// The two runs of one size; index 0 is to the device, 1 to the host.
struct Pair {
  double size = 0;
  std::array<DirectionFit::Row, 2> alone;
  std::array<unsigned, 2> more{};   ///< copies of direction x in the run in which it has more
  std::array<unsigned, 2> fewer{};  ///< copies of the other direction in that run
  std::array<Uncertain, 2> time;    ///< of that run
  std::array<double, 2> period{};   ///< the present estimate
};

class DuplexSolver {
 public:
  DuplexSolver(const DirectionFit& to_device, const DirectionFit& to_host) : alone_{&to_device, &to_host} {}

  /// What is known so far of how a period splits into bytes and gap: nothing at first.
  struct Split {
    double per_byte = 0;
    double gap = 0;  ///< of sizes from `from` on
  };
  std::array<std::optional<Split>, 2> split;
  double from = 0;

  std::array<double, 2> run(const Pair& pair, std::size_t longer) const {
    std::array<Way, 2> ways;
    for (std::size_t i = 0; i < 2; ++i) {
      const double gap = gap_in(pair, i);
      ways[i] = {.copies = i == longer ? pair.more[longer] : pair.fewer[longer],
                 .latency = std::max(0.0, pair.alone[i].latency_overhead.value()),
                 .gap = std::max(0.0, pair.alone[i].gap.value()),
                 .per_byte = alone_[i]->per_byte.value(),
                 .duplex_gap = gap,
                 .duplex_per_byte = (pair.period[i] - gap) / pair.size};
    }
    return ends(pair.size, ways);
  }

  // Which gaps fall into the shared time is a matter of whole copies, so the split counts, if little. Large sizes must
  // not split by k·G₂: G₂ comes from them, and an error would feed itself.
  double gap_in(const Pair& pair, std::size_t i) const {
    if (!split[i]) return std::max(0.0, pair.alone[i].gap.value());
    return std::max(0.0, pair.size >= from ? split[i]->gap : pair.period[i] - pair.size * split[i]->per_byte);
  }

  double period_alone(const Pair& pair, std::size_t i) const {
    return pair.size * alone_[i]->per_byte.value() + std::max(0.0, pair.alone[i].gap.value());
  }

  void solve(Pair& pair) const {
    for (int round = 0; round < 60; ++round) {
      double change = 0;
      for (std::size_t x = 0; x < 2; ++x) {
        const auto end = run(pair, x);
        const double step = (pair.time[x].value() - std::max(end[0], end[1])) / pair.fewer[x];
        const double before = pair.period[x];
        // Half and four times the period alone: bounds for senseless input only.
        pair.period[x] = std::clamp(before + step, 0.5 * period_alone(pair, x), 4 * period_alone(pair, x));
        change = std::max(change, std::abs(pair.period[x] - before) / before);
      }
      if (change < 1e-13) break;
    }
  }

  /// Whether the direction with more copies ended last, clearly: else its time tells of the other direction, and a
  /// slow enough period that makes both end together would explain it as well.
  bool tells_directions_apart(const Pair& pair) const {
    constexpr double clearly = 0.97;
    return run(pair, 0)[1] < clearly * run(pair, 0)[0] && run(pair, 1)[0] < clearly * run(pair, 1)[1];
  }

  /// The periods with their errors, linearised about the solution. With p the period alone, m the larger and n the
  /// smaller number of copies, and phases left out, T_x = S + n·P_y·(1 − p_x / P_x) + m·p_x.
  std::array<Uncertain, 2> periods(const Pair& pair) const {
    std::array<std::array<double, 2>, 2> jacobian{};
    std::array<Uncertain, 2> deviation;
    for (std::size_t x = 0; x < 2; ++x) {
      const std::size_t y = 1 - x;
      const double p = period_alone(pair, x);
      const double n = pair.fewer[x];
      jacobian[x][x] = n * pair.period[y] * p / (pair.period[x] * pair.period[x]);
      jacobian[x][y] = n * (1 - p / pair.period[x]);
      const Uncertain alone = pair.size * alone_[x]->per_byte + pair.alone[x].gap;
      const double by_alone = pair.more[x] - n * pair.period[y] / pair.period[x];
      deviation[x] = error_of(pair.time[x]) - by_alone * error_of(alone) - error_of(pair.alone[x].latency_overhead);
    }
    const double determinant = jacobian[0][0] * jacobian[1][1] - jacobian[0][1] * jacobian[1][0];
    return {Uncertain::exact(pair.period[0]) +
                (jacobian[1][1] * deviation[0] - jacobian[0][1] * deviation[1]) / determinant,
            Uncertain::exact(pair.period[1]) +
                (jacobian[0][0] * deviation[1] - jacobian[1][0] * deviation[0]) / determinant};
  }

 private:
  static Uncertain error_of(const Uncertain& u) { return u - Uncertain::exact(u.value()); }
  std::array<const DirectionFit*, 2> alone_;
};

std::vector<Pair> pairs_of(const Observations& observations, const DirectionFit& to_device,
                           const DirectionFit& to_host) {
  std::map<Bytes, Pair> by_size;
  for (const Observation& o : observations.of("duplex.pinned")) {
    const Bytes size{static_cast<std::uint64_t>(o.argument("bytes"))};
    const auto h2d = static_cast<unsigned>(o.argument("h2d_copies"));
    const auto d2h = static_cast<unsigned>(o.argument("d2h_copies"));
    if (h2d == d2h || h2d == 0 || d2h == 0) continue;
    Pair& pair = by_size[size];
    const std::size_t longer = h2d > d2h ? 0 : 1;
    pair.size = static_cast<double>(size.count);
    pair.alone = {to_device.at(size), to_host.at(size)};
    pair.more[longer] = std::max(h2d, d2h);
    pair.fewer[longer] = std::min(h2d, d2h);
    pair.time[longer] = o.time;
  }
  std::vector<Pair> pairs;
  for (const auto& [size, pair] : by_size)
    if (pair.more[0] > 0 && pair.more[1] > 0) pairs.push_back(pair);
  return pairs;
}

Bytes size_of(const Pair& pair) { return {static_cast<std::uint64_t>(pair.size)}; }

}  // namespace

std::optional<std::pair<DuplexFit, DuplexFit>> fit_duplex(Observations& observations, const DirectionFit& to_device,
                                                          const DirectionFit& to_host, Findings& findings) {
  const auto missing = [&](const char* reason) {
    findings.missing.push_back({"links[0].h2d.duplex", reason});
    findings.missing.push_back({"links[0].d2h.duplex", reason});
    return std::nullopt;
  };
  std::vector<Pair> pairs = pairs_of(observations, to_device, to_host);
  const Bytes from = pairs.empty() ? Bytes{0} : large_from(size_of(pairs.back()));
  if (std::ranges::count_if(pairs, [&](const Pair& pair) { return size_of(pair) >= from; }) < 2)
    return missing("not measured: needs verified points of duplex.pinned at two large sizes");

  DuplexSolver solver(to_device, to_host);
  solver.from = static_cast<double>(from.count);
  for (Pair& pair : pairs)
    for (std::size_t i = 0; i < 2; ++i) pair.period[i] = 1.1 * solver.period_alone(pair, i);
  std::array<std::map<Bytes, Uncertain>, 2> periods;
  std::array<Lines, 2> large;
  // How a period splits into bytes and gap follows from all sizes together, and the periods depend on it a little.
  for (int round = 0; round < 12; ++round) {
    for (Pair& pair : pairs) {
      solver.solve(pair);
      const auto both = solver.periods(pair);
      for (std::size_t i = 0; i < 2; ++i) periods[i][size_of(pair)] = both[i];
    }
    for (std::size_t i = 0; i < 2; ++i) {
      large[i] = fit_lines(std::span(&periods[i], 1), from, observations.sources());
      solver.split[i] = {large[i].slope.value(), large[i].intercepts[0]->value()};
    }
  }
  if (!std::ranges::all_of(pairs, [&](const Pair& pair) { return solver.tells_directions_apart(pair); }))
    return missing(
        "measured, but one direction is about 3 : 2 slower than the other or more, so that their times cannot be told "
        "apart");

  std::array<DuplexFit, 2> fits;
  for (std::size_t i = 0; i < 2; ++i) {
    fits[i].per_byte = large[i].slope;
    for (const auto& [size, period] : periods[i]) {
      if (size < from) {
        fits[i].rows.push_back({size, period - static_cast<double>(size.count) * large[i].slope});
      } else {
        fits[i].rows.push_back({size, *large[i].intercepts[0]});
        break;
      }
    }
  }

  Residual residual{"links[0].duplex", 0, ""};
  for (Pair& pair : pairs) {
    for (std::size_t i = 0; i < 2; ++i) {
      const auto row = std::ranges::find_if(fits[i].rows, [&](const auto& r) { return r.size >= size_of(pair); });
      const Uncertain& gap = row == fits[i].rows.end() ? fits[i].rows.back().gap : row->gap;
      pair.period[i] = pair.size * fits[i].per_byte.value() + std::max(0.0, gap.value());
    }
    for (std::size_t x = 0; x < 2; ++x)
      keep_worst(residual, solver.run(pair, x)[x], pair.time[x],
                 fmt::format("{} x {}:{}", to_string(size_of(pair)), x == 0 ? pair.more[0] : pair.fewer[1],
                             x == 0 ? pair.fewer[0] : pair.more[1]));
  }
  findings.residuals.push_back(residual);
  return std::pair{fits[0], fits[1]};
}

}  // namespace shiplap
