#include "shiplap/measure/limits.hpp"

#include <cstdio>
#include <map>

#include "shiplap/profile/topology.hpp"

namespace shiplap {
namespace {

/// fp32 multiply-adds that an SM does in a cycle, by compute capability (CUDA C++ Programming Guide, "Arithmetic
/// Instructions").
double multiply_adds(const std::string& capability) {
  static const std::map<std::string, double> table{
      {"5.0", 128},  {"5.2", 128},  {"5.3", 128},  {"6.0", 64},   {"6.1", 128}, {"6.2", 128}, {"7.0", 64},
      {"7.2", 64},   {"7.5", 64},   {"8.0", 64},   {"8.6", 128},  {"8.7", 128}, {"8.9", 128}, {"9.0", 128},
      {"10.0", 128}, {"10.3", 128}, {"11.0", 128}, {"12.0", 128}, {"12.1", 128}};
  const auto found = table.find(capability);
  return found == table.end() ? 0 : found->second;
}

/// The number that a condition such as "3201 MHz" begins with; 0 when there is none.
double leading_number(const std::string& text) {
  double value = 0;
  return std::sscanf(text.c_str(), "%lf", &value) == 1 && value > 0 ? value : 0;
}

}  // namespace

double device_memory_limit(const Conditions& conditions) {
  const double clock = leading_number(condition(conditions, "gpu.memory_clock_max"));
  return clock * 1e6 * 2 * leading_number(condition(conditions, "gpu.memory_bus_width")) / 8;
}

double arithmetic_limit(const Conditions& conditions, unsigned sm_count) {
  const double clock = leading_number(condition(conditions, "gpu.sm_clock_max"));
  return 2 * multiply_adds(condition(conditions, "gpu.compute_capability")) * sm_count * clock * 1e6;
}

std::optional<double> limit_of(const Figure& figure, const Conditions& conditions) {
  const auto starts = [&](std::string_view with) { return figure.primitive.starts_with(with); };
  if (!figure.bytes || starts("host.") || starts("numa.host.") || starts("peer.") || starts("blocks.host.") ||
      figure.primitive.find(".peer") != std::string::npos)
    return std::nullopt;
  double limit = pcie_link_rate(condition(conditions, "gpu.link"));
  if (starts("kernel.stream")) limit = device_memory_limit(conditions);
  if (starts("copy.device"))
    limit = device_memory_limit(conditions) / 2;  // a copy within device memory reads and
                                                  // writes each byte
  if (moves_both_ways(figure.primitive) || starts("blocks.both.")) limit *= 2;
  if (const auto gpus = figure.arguments.find("gpus"); gpus != figure.arguments.end()) limit *= gpus->second;
  if (limit <= 0) return std::nullopt;
  return limit;
}

}  // namespace shiplap
