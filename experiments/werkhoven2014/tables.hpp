// Tables I and II as the paper's estimates take them: of this run where their steps were run, else of the profile.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/experiment.hpp"
#include "shiplap/model/van_werkhoven_2014.hpp"

namespace shiplap::experiments::werkhoven {

/// That a kernel writes in one launch; a level of the ocean's grid has as much.
inline constexpr Bytes table2_launch = 8_MiB;

/// One grid of kernels that write host memory beside copies to the GPU.
struct MappedRow {
  std::string grid;  ///< "132 blocks"
  van_werkhoven_2014::UnderLoad per_byte;
};
/// Table II of one device.
struct TableTwo {
  std::optional<van_werkhoven_2014::UnderLoad> copies;  ///< by two copy engines
  std::vector<MappedRow> mapped{};                      ///< from few blocks to many
};

/// How rows of the figures of this device are told from published ones, and the modes of Table II.
inline constexpr std::string_view here = "here";
inline constexpr std::string_view mode_copies = "explicit-explicit";
inline constexpr std::string_view mode_mapped = "explicit-mapped";

/// G of copies in step with kernels that write as much, over kernels and pauses: a profile has the copies' rate while a
/// kernel runs, which is not what a run of both takes for a byte. `alone`: G and g of such copies by themselves.
van_werkhoven_2014::UnderLoad over_kernels_and_pauses(const ZeroCopyBeside&, const loggp::Parameters& alone,
                                                      Seconds kernel_gap);
/// What a profile says of Table II.
TableTwo table2_of(const Profile&);

/// What the paper's equations take of a link.
struct PaperLink {
  loggp::Parameters h2d;                                ///< Table I
  loggp::Parameters d2h;                                ///< Table I
  std::optional<van_werkhoven_2014::UnderLoad> copies;  ///< Table II, explicit-explicit
  std::optional<van_werkhoven_2014::UnderLoad> mapped;  ///< Table II, explicit-mapped, by the grid with most blocks
  std::string origin;                                   ///< a sentence on where both are from
};
/// From the figures table1 and table2 where they were made before, else from the profile, which must have a link.
PaperLink paper_link(const Bench&);

/// t_E of streams: the sum over the kernels of all chunks, which need not be the time of one launch.
Seconds summed_kernels(const Job&, std::uint32_t chunks);
/// A job in so many chunks over this link. The job has a cost.
van_werkhoven_2014::Work work_of(const PaperLink&, const Job&, std::uint32_t chunks);

}  // namespace shiplap::experiments::werkhoven
