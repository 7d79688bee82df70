#include "experiments/published_sweep/closed_forms.hpp"

#include "experiments/published_sweep/nonlinear_fit.hpp"

namespace shiplap::experiments::published_sweep {
namespace {

Bytes bytes_each_way(const PublishedPoint& point) { return 4_B * point.size; }

Seconds kernel_time(const PublishedPoint& point, Seconds per_element_and_call) {
  return static_cast<double>(point.size) * static_cast<double>(point.calls) * per_element_and_call;
}

/// `make(values)` returns a fit whose `predict` is compared with the points.
template <class Make>
auto fitted(std::span<const PublishedPoint> points, std::vector<double> start, Make make) {
  const auto residuals = [&](std::span<const double> values) {
    const auto fit = make(values);
    std::vector<double> out;
    for (const PublishedPoint& point : points) out.push_back(predict(fit, point) / point.time - 1);
    return out;
  };
  const NonlinearFit found = nonlinear_fit(residuals, std::move(start), {.iterations = 200, .tolerance = 1e-9});
  auto fit = make(found.parameters);
  fit.converged = found.converged;
  return fit;
}

}  // namespace

Eq5Fit fit_eq5(std::span<const PublishedPoint> points) {
  return fitted(points, {1.2e-11, 1e-11, 5e-5, 5e-6, 5e-6, 1.5e-12}, [](std::span<const double> p) {
    const Seconds latency{p[2] / 2};
    return Eq5Fit{.h2d = {latency, PerByte{p[0]}, Seconds{p[3]}},
                  .d2h = {latency, PerByte{p[1]}, Seconds{p[4]}},
                  .per_element_and_call = Seconds{p[5]}};
  });
}

Seconds predict(const Eq5Fit& fit, const PublishedPoint& point) {
  const Bytes size = bytes_each_way(point);
  return van_werkhoven_2014::eq5(
      {.h2d = fit.h2d, .d2h = fit.d2h, .in = size, .out = size, .kernel = kernel_time(point, fit.per_element_and_call)},
      point.streams);
}

GomezLunaFit fit_gomez_luna(std::span<const PublishedPoint> points) {
  return fitted(points, {1e-11, 5e-6, 1.5e-12}, [](std::span<const double> p) {
    return GomezLunaFit{.per_byte = PerByte{p[0]}, .per_stream = Seconds{p[1]}, .per_element_and_call = Seconds{p[2]}};
  });
}

Seconds predict(const GomezLunaFit& fit, const PublishedPoint& point) {
  const Seconds copy = bytes_each_way(point) * fit.per_byte;
  const StageTimes times{.h2d = copy, .kernel = kernel_time(point, fit.per_element_and_call), .d2h = copy};
  return gomez_luna_2012::streamed_time({.times = times, .per_stream = fit.per_stream}, point.streams,
                                        gomez_luna_2012::Architecture::cc1);
}

}  // namespace shiplap::experiments::published_sweep
