// Tables I and II as inputs of the paper's estimates: from this run if their steps were run, else from the profile.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/experiment.hpp"
#include "shiplap/model/van_werkhoven_2014.hpp"
#include "shiplap/strategy/paper_parameters.hpp"

namespace shiplap::experiments::werkhoven {

/// G for one grid of kernels that write host memory beside H2D copies.
struct MappedRow {
  std::string grid;  ///< grid of the kernels: "132 blocks"
  van_werkhoven_2014::UnderLoad per_byte;
};
/// Table II of one device.
struct TableTwo {
  std::optional<van_werkhoven_2014::UnderLoad> copies;  ///< duplex copies by two copy engines
  std::vector<MappedRow> mapped{};                      ///< rows by increasing number of blocks
};

/// Label of this device's rows beside published ones; the names of Table II's modes follow.
inline constexpr std::string_view here = "here";
inline constexpr std::string_view mode_copies = "explicit-explicit";
inline constexpr std::string_view mode_mapped = "explicit-mapped";

/// Table II from a profile.
TableTwo table2_of(const Profile&);

/// The link parameters of the paper's equations.
struct PaperLink {
  loggp::Parameters h2d;                                ///< Table I
  loggp::Parameters d2h;                                ///< Table I
  std::optional<van_werkhoven_2014::UnderLoad> copies;  ///< Table II, explicit-explicit
  std::optional<van_werkhoven_2014::UnderLoad> mapped;  ///< Table II, explicit-mapped, for the grid with most blocks
  std::string origin;                                   ///< origin of both tables, as a sentence
};
/// Link parameters from the figures table1 and table2 if they were made before, else from the profile, which must have
/// a link.
PaperLink paper_link(const Bench&);

/// Median time of one primitive of docs/reference/primitives.md; nullopt on a device that lacks it.
std::optional<Seconds> measured_time(const Bench&, const std::string& primitive);

/// t_E of streams: the sum of the kernel times of all chunks, which can differ from the time of one launch.
Seconds summed_kernels(const Job&, std::uint32_t chunks);
/// Inputs of the equations for a job in `chunks` chunks over this link. The job must have a cost.
van_werkhoven_2014::Work work_of(const PaperLink&, const Job&, std::uint32_t chunks);

}  // namespace shiplap::experiments::werkhoven
