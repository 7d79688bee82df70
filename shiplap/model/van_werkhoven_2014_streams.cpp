#include "shiplap/model/van_werkhoven_2014_streams.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace shiplap::van_werkhoven_2014 {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// A term falling/n + rising·n + fixed with falling, rising ≥ 0. Every form is the maximum of such terms. Each term is
// convex for n > 0, and so is the maximum. Its minimum is at n = 1, at a stationary point of a term, or where two terms
// are equal.
struct Term {
  double falling = 0;
  double rising = 0;
  double fixed = 0;
  double at(double n) const { return falling / n + rising * n + fixed; }
};

double longest(std::span<const Term> terms, double n) {
  double out = -infinity;
  for (const Term& t : terms) out = std::max(out, t.at(n));
  return out;
}

// Adds the roots of a·n² + b·n + c to `out`. It avoids the cancellation in (−b ± √(b² − 4ac)) / 2a.
void add_roots(double a, double b, double c, std::vector<double>& out) {
  const double discriminant = b * b - 4 * a * c;
  if (discriminant < 0) return;
  const double q = -(b + std::copysign(std::sqrt(discriminant), b)) / 2;
  if (a != 0) out.push_back(q / a);
  if (q != 0) out.push_back(c / q);
}

double minimiser(std::span<const Term> terms) {
  std::vector<double> candidates{1.0};
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Term& t = terms[i];
    if (t.rising > 0) candidates.push_back(std::sqrt(t.falling / t.rising));
    for (std::size_t j = i + 1; j < terms.size(); ++j) {
      const Term& u = terms[j];
      add_roots(t.rising - u.rising, t.fixed - u.fixed, t.falling - u.falling, candidates);
    }
  }
  std::erase_if(candidates, [](double n) { return !(n >= 1 && n < infinity); });
  std::ranges::sort(candidates);
  const double best = std::ranges::min(candidates, {}, [&](double n) { return longest(terms, n); });

  // Without any gap the form never rises, so its minimum is at infinity, unless it is constant from `best` on.
  if (std::ranges::any_of(terms, [](const Term& t) { return t.rising > 0; })) return best;
  const double limit = std::ranges::max(terms, {}, &Term::fixed).fixed;
  constexpr double rounding = 1e-14;
  return limit < longest(terms, best) * (1 - rounding) ? infinity : best;
}

// The terms of the equations. L+o is a summand of all of them and does not change the minimum; g·(n − 1) = g·n − g.
struct Coefficients {
  double in, kernel, out, gap_in, gap_out;
  explicit Coefficients(const Work& w)
      : in((w.in * w.h2d.per_byte).count()),
        kernel(w.kernel.count()),
        out((w.out * w.d2h.per_byte).count()),
        gap_in(w.h2d.gap.count()),
        gap_out(w.d2h.gap.count()) {}

  Term eq1() const { return {in, gap_out, kernel + out - gap_out}; }
  Term eq2() const { return {kernel, gap_in + gap_out, in + out - gap_in - gap_out}; }
  Term eq3() const { return {in + out, 0, kernel}; }
  Term transfers() const { return {0, gap_in + gap_out, in + out - gap_in - gap_out}; }
  Term in_dominates() const { return {kernel + out, gap_in, in - gap_in}; }
  Term out_dominates() const { return {in + kernel, gap_out, out - gap_out}; }
};

double minimiser(std::initializer_list<Term> terms) { return minimiser(std::span(terms.begin(), terms.size())); }

// The solution n of D + g·(n − 1) = (tE + D)/n, in a form without cancellation.
double smallest_useful(double transfer, double kernel, double gap) {
  const double b = transfer - gap;
  const double c = kernel + transfer;
  if (c <= 0) return 1;
  const double root = std::sqrt(b * b + 4 * gap * c);
  return b >= 0 ? 2 * c / (b + root) : (root - b) / (2 * gap);
}

}  // namespace

double eq1_optimum(const Work& w) { return minimiser({Coefficients(w).eq1()}); }

double eq2_optimum(const Work& w) { return minimiser({Coefficients(w).eq2()}); }

double eq4_optimum(const Work& w) {
  const Coefficients p(w);
  return minimiser({p.transfers(), p.in_dominates(), p.out_dominates()});
}

double eq5_optimum(const Work& w) {
  const Coefficients p(w);
  return minimiser({p.in_dominates(), p.eq3(), p.out_dominates()});
}

double optimal_streams(const Work& w, Category category) {
  const Coefficients p(w);
  switch (category) {
    case Category::implicit_sync_one_engine:
      return minimiser({p.eq1(), p.eq2()});
    case Category::one_engine:
      return minimiser({p.eq3(), p.transfers(), p.in_dominates(), p.out_dominates()});
    case Category::two_engines:
      break;
  }
  return eq5_optimum(w);
}

double eq4_smallest_useful(const Work& w) {
  const Coefficients p(w);
  return p.in >= p.out ? smallest_useful(p.out, p.kernel, p.gap_out) : smallest_useful(p.in, p.kernel, p.gap_in);
}

double as_printed::eq1_optimum(const Work& w, Seconds gap) { return std::sqrt(w.in * w.h2d.per_byte / gap); }

double as_printed::eq2_optimum(const Work& w, Seconds gap) { return std::sqrt(w.kernel / (2 * gap)); }

std::optional<double> as_printed::eq4_smallest_useful(const Work& w, Seconds gap) {
  if (w.in == w.out) return std::nullopt;
  const Coefficients p(w);
  return smallest_useful(w.in > w.out ? p.out : p.in, p.kernel, gap.count());
}

std::optional<double> as_printed::eq5_optimum(const Work& w, Seconds gap) {
  if (w.in == w.out) return std::nullopt;
  const Coefficients p(w);
  return std::sqrt(((w.in > w.out ? p.out : p.in) + p.kernel) / gap.count());
}

std::optional<double> as_printed::optimal_streams(const Work& w, Category category) {
  const Seconds gap = (w.h2d.gap + w.d2h.gap) / 2;
  const bool kernel_dominates = w.kernel > w.in * w.h2d.per_byte;
  if (category == Category::implicit_sync_one_engine)
    return kernel_dominates ? eq1_optimum(w, gap) : eq2_optimum(w, gap);
  if (kernel_dominates) return std::nullopt;
  return category == Category::one_engine ? eq4_smallest_useful(w, gap) : eq5_optimum(w, gap);
}

}  // namespace shiplap::van_werkhoven_2014
