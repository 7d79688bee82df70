// Comparison of published figures with published equations, which needs no device.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "experiments/gomezluna2012/judge.hpp"
#include "experiments/gomezluna2012/steps.hpp"
#include "shiplap/model/chunk_choice.hpp"
#include "shiplap/model/gomez_luna_2012.hpp"

namespace shiplap::experiments::gomez_luna {
namespace {

namespace model = gomez_luna_2012;

/// Largest ratio between rates of pinned copies over the same link. Both GPUs are in a PCIe 2.0 x16 slot.
constexpr double same_link = 1.5;
/// Bytes of one of the matrices A and C of size p.
double matrix_bytes(std::string_view p) { return 8 * std::pow(std::stod(std::string(p)), 2); }
double gigabytes_per_second_of(double bytes, double ms) { return bytes / (1e6 * ms); }

Figure table2_audit() {
  Figure figure{.id = "table2_audit",
                .where = "Table 2, matrix multiplication",
                .title = "what the published estimates say of the copies, by eqs 4 and 8 and the published t_sc",
                .columns = {{"p", ""},
                            {"GTX 280 estimated, published", ""},
                            {"t_T = n² t_sc", "ms"},
                            {"A and C", "GB/s"},
                            {"GTX 480 estimated, published", ""},
                            {"t_Thd = n² t_sc", "ms"},
                            {"A", "GB/s"}},
                .rows = {},
                .note =
                    "All columns but the estimates are derived from them. Eq 8 has only t_Thd under its root; the "
                    "kernel is the longer one for large p. "};
  for (const PublishedSize& row : matmul_sizes) {
    const double t280 = implied_ms(row.on_280.estimated, gtx280);
    const double t480 = implied_ms(row.on_480.estimated, gtx480);
    figure.rows.push_back({std::string(row.size), row.on_280.estimated, t280,
                           gigabytes_per_second_of(2 * matrix_bytes(row.size), t280), row.on_480.estimated, t480,
                           gigabytes_per_second_of(matrix_bytes(row.size), t480)});
  }
  // A third of t_sc in t_Thd = n² t_sc implies three times the rate.
  constexpr double other_ms = 0.010;
  const PublishedSize& largest = matmul_sizes.back();
  figure.note += fmt::format(
      "Copies of pinned memory over PCIe 2.0 x16 reach 4 to 6 GB/s: with t_sc = {} ms in place of {} the GTX 480 would "
      "copy at {:.1f} GB/s.",
      other_ms, gtx480.per_stream_ms,
      gigabytes_per_second_of(matrix_bytes(largest.size), implied_ms(largest.on_480.estimated, gtx480)) *
          gtx480.per_stream_ms / other_ms);
  return figure;
}

Finding of_table2() {
  const PublishedSize& largest = matmul_sizes.back();
  const double rate280 =
      gigabytes_per_second_of(2 * matrix_bytes(largest.size), implied_ms(largest.on_280.estimated, gtx280));
  const double rate480 =
      gigabytes_per_second_of(matrix_bytes(largest.size), implied_ms(largest.on_480.estimated, gtx480));
  const bool holds = std::max(rate280, rate480) <= same_link * std::min(rate280, rate480);
  return {"table2-tsc", holds ? Verdict::holds : Verdict::does_not_hold,
          fmt::format("p = 4096: {:.1f} GB/s on the GTX 280, {:.1f} GB/s on the GTX 480, over the same link", rate280,
                      rate480),
          holds ? ""
                : "a contradiction in the paper, whatever the hardware: t_sc = 0.03 ms and the estimates of the "
                  "GTX 480 do not fit together"};
}

/// Stages of 15 MiB in each direction on the GTX 280, with the rate of Table 2's largest matrix and copies out 36 %
/// longer.
StageTimes scalar_stages(double kernel_ratio) {
  const PublishedSize& largest = matmul_sizes.back();
  const double both = implied_ms(largest.on_280.estimated, gtx280) * (15.0 * (1 << 20)) / matrix_bytes(largest.size);
  const double in = both / (2 + gtx280.d2h_longer);
  return {.h2d = milliseconds(in), .kernel = milliseconds(kernel_ratio * both), .d2h = milliseconds(both - in)};
}

Figure own_machine() {
  Figure figure{.id = "own_machine",
                .where = "Figs 1 and 4 (top)",
                .title = "what the equations give for 15 MiB each way on the GTX 280 itself",
                .columns = {{"t_E / t_T", ""},
                            {"t_Thd", "ms"},
                            {"t_E", "ms"},
                            {"t_Tdh", "ms"},
                            {"unstreamed", "ms"},
                            {"streams by eqs 2 and 4", ""},
                            {"time by eqs 1 and 3", "ms"},
                            {"streams with the cap", ""},
                            {"time with the cap", "ms"},
                            {"gain", "%"}},
                .rows = {},
                .note =
                    "Derived, nothing measured: t_sc = 0.10 ms and copies to the host 36 % longer as published, "
                    "the rate from Table 2 (p = 4096). The link of neither GPU was published, so that nothing "
                    "can be simulated for them."};
  for (const double share : {0.25, 0.5, 0.75, 0.9, 0.98, 1.02, 1.25, 1.5, 2.0}) {
    const model::Work w{scalar_stages(share), milliseconds(gtx280.per_stream_ms)};
    const double printed = model::as_printed::optimal_streams(w, model::Architecture::cc1);
    const double capped = model::optimal_streams(w, model::Architecture::cc1);
    const auto time = [&](double optimum) {
      const auto streamed = [&](std::uint32_t n) { return streamed_time(w, n, model::Architecture::cc1); };
      constexpr std::uint32_t most = 1 << 14;
      return streamed(std::max(2u, best_integer_near(optimum, streamed, most)));
    };
    figure.rows.push_back({share, in_milliseconds(w.times.h2d), in_milliseconds(w.times.kernel),
                           in_milliseconds(w.times.d2h), in_milliseconds(unstreamed_time(w)), printed,
                           in_milliseconds(time(printed)), capped, in_milliseconds(time(capped)),
                           100 * (unstreamed_time(w) / time(capped) - 1)});
    // This is the case in which eq 2's number and the cap differ most.
    if (share == 0.98)
      figure.note +=
          fmt::format(" At t_E = {} t_T {:.0f} streams by eq 2 take {:.3g} times as long as {:.0f} by the cap.", share,
                      printed, time(printed) / time(capped), capped);
  }
  return figure;
}

}  // namespace

StepResult audit(const Bench&) { return {.figures = {table2_audit(), own_machine()}, .findings = {of_table2()}}; }

}  // namespace shiplap::experiments::gomez_luna
