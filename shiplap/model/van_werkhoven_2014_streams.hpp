// How many chunks: the optima and limits of van Werkhoven et al. 2014, §VI, over the real numbers from 1 on. They bound
// a search; a job takes one of its divisors, found by evaluating the model (chunk_choice.hpp), never by rounding.
// Kernel time is taken as constant: where small chunks do not fill the GPU, the best number is smaller.
#pragma once

#include <optional>

#include "shiplap/model/van_werkhoven_2014.hpp"

namespace shiplap::van_werkhoven_2014 {

/// The number of chunks n ≥ 1 for which a form is least. Infinite where every further chunk makes it shorter.
/// Eq 1: √(Thd/g_dh).
double eq1_optimum(const Work&);
/// Eq 2: √(tE/(g_hd + g_dh)).
double eq2_optimum(const Work&);
/// Eqs 4 and 5: a stationary point of one of the terms, or where two of them cross. Eq 3 has no optimum: it is least
/// at infinity, although the paper says of all forms that they show a drawback of more streams.
double eq4_optimum(const Work&);
double eq5_optimum(const Work&);
/// The same of `streams_time`: with both scenarios in one form, every category has an optimum where g is not 0.
double optimal_streams(const Work&, Category);

/// Eq 4: fewer chunks are better down to where its first term stops being the longest, D + g·(n − 1) = (tE + D)/n with
/// D the smaller transfer *time* and g its gap: n = (g − D + √((D − g)² + 4g(tE + D))) / 2g; without gap 1 + tE/D.
/// This is also where eq 4 is least unless D is smaller than a gap.
double eq4_smallest_useful(const Work&);

/// As printed: one g for both directions, and the case chosen by bytes, which leaves equal numbers of bytes without
/// one.
namespace as_printed {

/// √(Bhd·Ghd/g), √(tE/2g).
double eq1_optimum(const Work&, Seconds gap);
double eq2_optimum(const Work&, Seconds gap);
/// The displayed equation, not the sentence before it, which adds L+o and divides Bdh·Gdh by n on both sides.
std::optional<double> eq4_smallest_useful(const Work&, Seconds gap);
/// √((Tdh + tE)/g) if Bhd > Bdh, √((Thd + tE)/g) if Bdh > Bhd; "dominant transfers" only.
std::optional<double> eq5_optimum(const Work&, Seconds gap);

}  // namespace as_printed

}  // namespace shiplap::van_werkhoven_2014
