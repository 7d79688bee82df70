#include "shiplap/plan/kernel_rates.hpp"

#include <fmt/format.h>

#include <cmath>

#include "shiplap/core/record.hpp"
#include "shiplap/model/harris_2012.hpp"
#include "shiplap/plan/paper_answers.hpp"
#include "shiplap/plan/ranking_json.hpp"

namespace shiplap {

std::optional<KernelRates> kernel_rates(const Job& job) {
  if (job.cost.points.empty()) return std::nullopt;
  KernelRates rates{.time = job.cost.launch_time(job.items), .effective_bandwidth = {}, .gigaflops = {}};
  if (!(rates.time > Seconds{0})) return std::nullopt;
  if (job.device_traffic.count > 0)
    rates.effective_bandwidth = harris_2012::effective_bandwidth(job.device_traffic, Bytes{}, rates.time);
  if (job.flops > 0)
    rates.gigaflops = harris_2012::gigaflops(static_cast<std::uint64_t>(std::llround(job.flops)), rates.time);
  return rates;
}

std::string rate_of_operations(double gigaflops) {
  return gigaflops < 1000 ? fmt::format("{:.4g} GFLOP/s", gigaflops) : fmt::format("{:.4g} TFLOP/s", gigaflops / 1000);
}

std::string to_string(const KernelRates& rates) {
  std::string text = to_string(rates.time);
  if (rates.effective_bandwidth) text += fmt::format(", {} effective bandwidth", to_string(*rates.effective_bandwidth));
  if (rates.gigaflops) text += ", " + rate_of_operations(*rates.gigaflops);
  return text;
}

template <class V, Like<KernelRates> R>
void describe(V& v, R& rates) {
  v.field("time", rates.time, "time of one launch over all items, on resident data");
  v.field("effective_bandwidth", rates.effective_bandwidth,
          "bytes that the kernel reads and writes, over its time; null unless they are stated");
  v.field("gigaflops", rates.gigaflops, "operations over the time of the kernel; null unless they are stated",
          OrNull<double, InUnit>{{"GFLOP/s"}});
}

Json to_json(const KernelRates& rates) { return write_record(rates); }
void from_json(const JsonReader& json, KernelRates& rates) { read_record(json, rates); }
Json json_schema(const KernelRates&) { return schema_of<KernelRates>(); }

}  // namespace shiplap
