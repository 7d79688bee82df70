// The papers' closed forms fitted to the same published points as the simulation, so that the three can be compared.
#pragma once

#include <span>

#include "experiments/published_sweep/data.hpp"
#include "shiplap/model/gomez_luna_2012.hpp"
#include "shiplap/model/van_werkhoven_2014.hpp"

namespace shiplap::experiments::published_sweep {

/// van Werkhoven et al. 2014, eq 5 (two copy engines): G and g of each direction, one L+o for both together (half
/// each), and a kernel time proportional to elements and calls.
struct Eq5Fit {
  van_werkhoven_2014::Direction h2d;
  van_werkhoven_2014::Direction d2h;
  Seconds per_element_and_call{0};
  bool converged = false;
};
/// Fits by least squares on relative errors, without the treatment of outliers of `fit_simulation`. Eq 5 is
/// symmetric when both directions move equally many bytes. The fit then cannot tell which G belongs to which direction,
/// and determines the g of the slower direction only. Throws Error with fewer points than parameters.
Eq5Fit fit_eq5(std::span<const PublishedPoint>);
Seconds predict(const Eq5Fit&, const PublishedPoint&);

/// Gómez-Luna et al. 2012, eqs 1 and 3 as one form: max(t_T, t_E + t_T/n) + t_sc·n. They are for cc 1.x, with one copy
/// engine and no implicit synchronisation, which is closest to a GPU with two copy engines. t_T is proportional to the
/// bytes of both directions together.
struct GomezLunaFit {
  PerByte per_byte;
  Seconds per_stream{0};
  Seconds per_element_and_call{0};
  bool converged = false;
};
GomezLunaFit fit_gomez_luna(std::span<const PublishedPoint>);
Seconds predict(const GomezLunaFit&, const PublishedPoint&);

}  // namespace shiplap::experiments::published_sweep
