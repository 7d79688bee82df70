// Every way to move bytes that was measured, side by side: a table for people, and the points as CSV for other
// programs.
#pragma once

#include <span>
#include <string>

#include "shiplap/measure/figures.hpp"
#include "shiplap/profile/profile.hpp"
#include "shiplap/report/table.hpp"

namespace shiplap {

/// Bandwidth of the largest size that was measured, by kind of memory and direction, with its share of the limit where
/// that is known; "" where nothing moved. The best and the worst of each direction are marked.
std::string transfers_report(std::span<const Figure>, const TextStyle& = {});

/// One line for each measured point: primitive, arguments ("bytes=4096 copies=16"), clock, samples, those set aside
/// because one of two visits was disturbed, median and its 95 % interval, mean, standard deviation (all in us),
/// coefficient of variation, verified, what held the clocks down, and of bandwidths the effective one (bytes moved over
/// the median) and the limit, in GB/s.
std::string measurements_csv(std::span<const Measurement>, const Conditions& = {});

}  // namespace shiplap
