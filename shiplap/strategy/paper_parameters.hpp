// The parameters of the papers' closed forms, from a job, a choice and a profile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shiplap/model/van_werkhoven_2014.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/strategy/strategy.hpp"

namespace shiplap {

/// The device category of the GPU (van Werkhoven et al. 2014, section IV), or the one that the layout emulates.
/// Implicit synchronisation makes it category 1, also with two copy engines: copies to the host wait for the last
/// kernel, and by then no copy to the GPU is left. nullopt when the paper has no form: for GPUs that hold a copy until
/// the last kernel has started, and for several chunks that are not submitted breadth-first to categories 1 and 2.
std::optional<van_werkhoven_2014::Category> paper_category(const GpuModel&, const Choice&);

/// The parameters of the papers' closed forms for a job in `chunks` chunks; nullopt when the profile has no link or the
/// kernel's cost is unknown. When `overlapping`, G and g are those of duplex copies if the profile has them (Table II,
/// explicit-explicit).
std::optional<van_werkhoven_2014::Work> paper_parameters(const Job&, std::uint32_t chunks, const Profile&,
                                                         bool overlapping);

/// The parameters of eq 6 of van Werkhoven et al. 2014: those of one direction alone, where every read of an input
/// crosses the link (see `bytes_read`); nullopt as above.
std::optional<van_werkhoven_2014::Work> implicit_parameters(const Job&, const Profile&);

/// t_sc of Gómez-Luna et al. 2012: what making a stream costs the host; nullopt when the profile does not have it.
std::optional<Seconds> cost_of_stream(const Profile&);
/// Bytes that a kernel writes in one launch for Table II of van Werkhoven et al. 2014 (explicit-mapped), the size of a
/// level of the paper's ocean grid.
inline constexpr Bytes table2_launch = 8_MiB;
/// Average G of H2D copies (`h2d`) and of a kernel's writes to host memory (`d2h`), as Table II has them: both move
/// `table2_launch` again and again, and the averages are over kernels and the pauses between them. The row of the
/// profile has the rates while a kernel runs. `alone` has G and g of such copies without kernels.
van_werkhoven_2014::UnderLoad over_kernels_and_pauses(const ZeroCopyBeside&, const loggp::Parameters& alone,
                                                      Seconds kernel_gap);
/// Whether the profile has rates of kernels that write host memory while H2D copies move.
bool knows_mapped_writes(const Profile&);
/// G of Table II (explicit-mapped), without g, for the grid with the most bytes in flight; nullopt when the profile
/// lacks the rates.
std::optional<van_werkhoven_2014::UnderLoad> explicit_mapped(const Profile&);
/// The parameters of `hybrid_time` for a choice of `hybrid`: copies in, and writes of the kernel in its grid instead of
/// copies out. While both move they have the profile's rates of kernels that write host memory while H2D copies move,
/// and for the remainder the rates alone. Without these rates in the profile, those of copies in one direction hold
/// throughout. nullopt when the profile has no link or the kernel's cost is unknown.
std::optional<van_werkhoven_2014::Work> hybrid_parameters(const Job&, const Choice&, const Profile&);

/// The assumption of the papers' forms that all chunks are equal, when the choice has others.
std::vector<std::string> assumptions_of_chunks(const Choice&);
/// The assumptions that are common to all forms and do not hold for the job, added to those given: no launch latency,
/// or one that `time` covers; no prefix of an array that must be on the GPU before the first launch.
std::string all_assumptions(const Job&, const Profile&, Seconds time, std::vector<std::string> assumptions);
/// The time of the copies of arrays that stay on the GPU, which no equation contains: L+o + B·G + g·(n − 1) for n
/// arrays to the GPU before the first launch, and for the carried ones back after the last one.
Seconds time_of_copies_once(const Job&, const Profile&);
/// The closed form with `time` by an equation, for which all arrays are cut, and the copies of arrays that stay on the
/// GPU before and after it.
ClosedForm closed_form(const Job&, const Profile&, Seconds time, std::vector<std::string> assumptions = {});
/// The time as an equation of a paper has it, without arrays that stay on the GPU, which it assumes to be absent.
ClosedForm closed_form_as_printed(const Job&, const Profile&, Seconds time, std::vector<std::string> assumptions = {});

}  // namespace shiplap
