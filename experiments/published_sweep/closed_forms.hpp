// The papers' closed forms fitted to the same published points as the simulation, so that the three can be compared.
#pragma once

#include <span>

#include "experiments/published_sweep/data.hpp"
#include "shiplap/model/gomez_luna_2012.hpp"
#include "shiplap/model/van_werkhoven_2014.hpp"

namespace shiplap::experiments::published_sweep {

/// van Werkhoven et al. 2014, eq 5 (two copy engines): G and g each way, one L+o that stands for both (half each), and
/// a kernel in proportion to elements and calls.
struct Eq5Fit {
  van_werkhoven_2014::Direction h2d;
  van_werkhoven_2014::Direction d2h;
  Seconds per_element_and_call{0};
  bool converged = false;
};
/// Least squares on relative errors, as `fit_simulation` but without its treatment of outliers. Eq 5 is symmetric in
/// the two directions when as much comes back as goes in: which G is whose is not identified, and of g only that of the
/// direction that takes longer. Throws Error where there are fewer points than parameters.
Eq5Fit fit_eq5(std::span<const PublishedPoint>);
Seconds predict(const Eq5Fit&, const PublishedPoint&);

/// Gómez-Luna et al. 2012, eqs 1 and 3 as one form (cc 1.x: one copy engine, no implicit synchronisation, which is the
/// nearest to a GPU with two): max(t_T, t_E + t_T/n) + t_sc·n. t_T is by the bytes of both directions together.
struct GomezLunaFit {
  PerByte per_byte;
  Seconds per_stream{0};
  Seconds per_element_and_call{0};
  bool converged = false;
};
GomezLunaFit fit_gomez_luna(std::span<const PublishedPoint>);
Seconds predict(const GomezLunaFit&, const PublishedPoint&);

}  // namespace shiplap::experiments::published_sweep
