// The measured ways to move bytes, side by side in a table, and all measured points as CSV.
#pragma once

#include <span>
#include <string>

#include "shiplap/document/table.hpp"
#include "shiplap/measure/figures.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// A table of the bandwidth at the largest measured size, by kind of memory and direction, with its fraction of the
/// link's limit where that is known. The best and the worst of each direction are marked. "" without any bandwidth.
std::string transfers_report(std::span<const Figure>, const TextStyle& = {});

/// One line for each measured point: primitive, arguments ("bytes=4096 copies=16"), clock, number of samples, number of
/// samples that were set aside because one of two visits was disturbed, median and its 95 % interval, mean and standard
/// deviation (all in µs), coefficient of variation, whether the bytes were verified, what held the clocks down, the
/// effective bandwidth (bytes moved over the median) and the limit of the bandwidth, both in GB/s.
std::string measurements_csv(std::span<const Measurement>, const Conditions& = {});

}  // namespace shiplap
