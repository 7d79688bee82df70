#include "shiplap/plan/kernel_rates.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "shiplap/core/quantity_json.hpp"
#include "shiplap/model/harris_2012.hpp"

namespace shiplap {

std::optional<KernelRates> kernel_rates(const Job& job) {
  if (job.cost.points.empty()) return std::nullopt;
  KernelRates rates{.time = job.cost.at(job.items), .effective_bandwidth = {}, .gigaflops = {}};
  if (!(rates.time > Seconds{0})) return std::nullopt;
  if (job.device_traffic.count > 0)
    rates.effective_bandwidth = harris_2012::effective_bandwidth(job.device_traffic, Bytes{}, rates.time);
  if (job.flops > 0)
    rates.gigaflops = harris_2012::gigaflops(static_cast<std::uint64_t>(std::llround(job.flops)), rates.time);
  return rates;
}

std::string to_string(const KernelRates& rates) {
  std::string text = to_string(rates.time);
  if (rates.effective_bandwidth) text += fmt::format(", {} effective bandwidth", to_string(*rates.effective_bandwidth));
  if (rates.gigaflops) text += fmt::format(", {:.4g} GFLOP/s", *rates.gigaflops);
  return text;
}

Json to_json(const KernelRates& rates) {
  Json json{{"time", quantity_json(rates.time)}, {"effective_bandwidth", nullptr}, {"gigaflops", nullptr}};
  if (rates.effective_bandwidth)
    json["effective_bandwidth"] = {{"value", in_gigabytes_per_second(*rates.effective_bandwidth)}, {"unit", "GB/s"}};
  if (rates.gigaflops) json["gigaflops"] = {{"value", *rates.gigaflops}, {"unit", "GFLOP/s"}};
  return json;
}

}  // namespace shiplap
