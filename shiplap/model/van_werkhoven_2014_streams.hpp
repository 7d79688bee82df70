// Optimal numbers of chunks over the real numbers n ≥ 1: van Werkhoven et al. 2014, §VI. A job uses one of its
// divisors, which is found by evaluating the model (chunk_choice.hpp), not by rounding these numbers. The
// symbols are explained in van_werkhoven_2014.hpp. The model assumes that chunks together take as long in the kernel as
// the whole job. Chunks too small to fill the GPU take longer, and then fewer chunks are best.
#pragma once

#include <optional>

#include "shiplap/model/van_werkhoven_2014.hpp"

namespace shiplap::van_werkhoven_2014 {

/// The number of chunks n ≥ 1 for which eq 1 is least: √(Thd/g_dh). All optima are infinite when every further chunk
/// makes the time shorter.
double eq1_optimum(const Work&);
/// The optimum of eq 2: √(tE/(g_hd + g_dh)).
double eq2_optimum(const Work&);
/// The optima of eqs 4 and 5: a stationary point of one of their terms, or a point where two terms are equal. Eq 3 has
/// no finite optimum, although the paper says that all forms get worse with too many streams.
double eq4_optimum(const Work&);
double eq5_optimum(const Work&);
/// The optimum of `streams_time`, which every category has when g is not 0.
double optimal_streams(const Work&, Category);

/// The smallest number of chunks for which the first term of eq 4 is the longest. More chunks only add gaps. It solves
/// D + g·(n − 1) = (tE + D)/n, where D is the smaller transfer *time* and g its gap:
/// n = (g − D + √((D − g)² + 4g(tE + D))) / 2g, and 1 + tE/D when g = 0. It is also the optimum of eq 4 unless D is
/// smaller than a gap.
double eq4_smallest_useful(const Work&);

/// The forms as printed, with one g for both directions. The cases are chosen by numbers of bytes, and equal numbers
/// have no case.
namespace as_printed {

/// √(Bhd·Ghd/g) for eq 1 and √(tE/2g) for eq 2.
double eq1_optimum(const Work&, Seconds gap);
double eq2_optimum(const Work&, Seconds gap);
/// The displayed equation. The sentence before it differs: it adds L+o and divides Bdh·Gdh by n on both sides.
std::optional<double> eq4_smallest_useful(const Work&, Seconds gap);
/// √((Tdh + tE)/g) if Bhd > Bdh, √((Thd + tE)/g) if Bdh > Bhd. It is printed for "dominant transfers" only.
std::optional<double> eq5_optimum(const Work&, Seconds gap);
/// The number of streams by the rule of §VI for the category and for what dominates, by tE > Thd: `eq1_optimum` and
/// `eq2_optimum`; for dominant transfers `eq4_smallest_useful` and `eq5_optimum`. nullopt where the paper has no rule:
/// for a dominant kernel of categories 2 and 3, and for equal numbers of bytes there. g is the mean of both directions.
std::optional<double> optimal_streams(const Work&, Category);

}  // namespace as_printed

}  // namespace shiplap::van_werkhoven_2014
