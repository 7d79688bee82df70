// Gómez-Luna et al. 2012: claims, steps and faults.
#include <array>

#include "experiments/gomezluna2012/steps.hpp"
#include "experiments/papers.hpp"

namespace shiplap::experiments {
namespace {

constexpr std::array<Claim, 25> claims{{
    {"one-engine", "Table 1", "copies to the GPU and to the host cannot overlap each other: one DMA channel"},
    {"fig1-transfers", "Fig. 1, eq. 1",
     "GTX 280, dominant transfers: the streamed time is the copies' time t_T; t_T + t_E/n matches no test"},
    {"fig1-kernel", "Fig. 1, eq. 3", "GTX 280, kernel clearly longer than the copies: t_E + t_T/n"},
    {"eq2", "Fig. 1, eq. 2", "GTX 280, dominant transfers: the best number of streams is around t_T/(t_T − t_E)"},
    {"fig2-left", "Fig. 2, eq. 5", "GTX 480, copy to the GPU longer than the kernel: t_T + t_E/n"},
    {"fig2-right", "Fig. 2, eq. 7",
     "GTX 480, dominant kernel: t_E + t_T/n fits in no case, one of both copies stays in full"},
    {"overhead", "§3.1.1", "from a certain number of streams on the time grows, in all tests on both GPUs"},
    {"t-sc", "§3.2", "each stream costs t_sc = 0.10 ms on the GTX 280 and 0.03 ms on the GTX 480"},
    {"fig3-cc1", "Fig. 3 (top)",
     "GTX 280, 24 MB in all, 16 streams: t_T with 1, 2 and 4 iterations, t_E + t_T/n with 16"},
    {"fig3-hidden", "Fig. 3 (bottom)",
     "GTX 480, 32 and 40 iterations: the copy to the GPU is the one that is hidden: t_E + t_Thd/n + t_Tdh"},
    {"asymmetry", "§3.1.2",
     "copies to the host take 36 % longer than copies to the GPU on the GTX 280, and 2 % shorter on the GTX 480"},
    {"fig4-cc1", "Fig. 4 (top)", "eqs 1 and 3 fit all tests on the GTX 280"},
    {"fig4-cc2", "Fig. 4 (bottom)", "eqs 5 and 7 fit all tests on the GTX 480 perfectly"},
    {"matmul-gain", "Fig. 5", "matrix multiplication gains 8 to 19 % (GTX 280) and 5 to 14 % (GTX 480) by streams"},
    {"matmul-optimum", "Table 2",
     "matrix multiplication: the estimated optimum is very close to the experimental one at all sizes but one"},
    {"matmul-growth", "Table 2", "the optimum doubles with p: 6.1, 12.2, 24.5 (GTX 280), 12.8, 25.8, 51.7 (GTX 480)"},
    {"blocks", "Table 2, §4.1",
     "p = 256 on the GTX 280: 2 streams are best instead of 5.4, since smaller launches have too few blocks"},
    {"histogram-gain", "Fig. 6", "histograms gain 25 to 44 % (GTX 280) and 6 to 21 % (GTX 480) by streams"},
    {"histogram-optimum", "Table 2", "histograms: estimates are in the order of magnitude of the experimental optima"},
    {"grayscale-gain", "Fig. 7", "grayscale gains 52 to 63 % (GTX 280) and 6 to 18 % (GTX 480) by streams"},
    {"grayscale-optimum", "Table 2", "grayscale: the estimated optimum is clearly correct"},
    {"table3", "Table 3",
     "4096 frames in chunks of 32: optimally streamed 8 to 18 % more frames per second than without streams"},
    {"adaptation", "§4.4, Table 3",
     "recomputing the optimum from one un-streamed chunk when the data change gains frames per second"},
    {"distribution", "§4.4", "degenerate frames collide more, so that their kernel takes much longer"},
    {"table2-tsc", "Table 2, §3.2", "the estimates are those of eqs 2, 4, 6 and 8 with the printed t_sc"},
}};

constexpr std::array<Claim, 3> edge_claims{{
    {"eq2-limit", "Eq. 2", "with dominant transfers t_T and t_E alone tell the best number, however close they are"},
    {"issue-order", "§2", "streams let the copies of one overlap the kernel of another"},
    {"eq1-last", "Eq. 1", "dominant transfers hide the kernel completely: t_T + t_oh"},
}};

constexpr std::array<Claim, claims.size() + edge_claims.size()> all_claims = [] {
  std::array<Claim, claims.size() + edge_claims.size()> all{};
  std::size_t i = 0;
  for (const Claim& c : claims) all[i++] = c;
  for (const Claim& c : edge_claims) all[i++] = c;
  return all;
}();

constexpr std::array<Step, 8> steps{{
    {"scalar", "Figs 1, 2 and 4: iterations x streams", gomez_luna::scalar_tests},
    {"fig3", "Fig. 3: the asymmetric tests", gomez_luna::asymmetric_tests},
    {"matmul", "Fig. 5 and Table 2: matrix multiplication", gomez_luna::matmul_tests},
    {"histogram", "Fig. 6 and Table 2: histograms", gomez_luna::histogram_tests},
    {"grayscale", "Fig. 7 and Table 2: RGB to grayscale", gomez_luna::grayscale_tests},
    {"table3", "Table 3: 4096 frames in chunks of 32", gomez_luna::sequence},
    {"edges", "where the equations are off", gomez_luna::edges},
    {"audit", "Table 2 against the equations, and the GTX 280 by them", gomez_luna::audit},
}};

constexpr std::array<std::string_view, 14> faults{
    "Eq 2 is not the minimum of eq 1, which grows with every stream; it is where eqs 1 and 3 meet. The minimum is at "
    "min(√(t_T/t_sc), t_T/(t_T − t_E)): with t_T = 12, t_E = 11.9 and t_sc = 0.1 ms eq 2 asks for 120 streams and 24.0 "
    "ms, "
    "the minimum is 14.09 ms at 10.95 (claim of eq 2 with t_E close to t_T).",
    "Eqs 1 and 3 are chosen by a condition on n itself and leave equality out, as eqs 5 and 7 do; max(t_T, t_E + "
    "t_T/n) "
    "and max(t_Thd, t_E) + min(t_Thd, t_E)/n + t_Tdh are the same without gaps.",
    "Eq 1 lets the copies hide the whole kernel, but only copies to the host can hide the last stream's: with few of "
    "them, as for histograms, the time is t_Thd + t_E/n + t_Tdh/n (claim of eq 1).",
    "All equations hold for the order of the listing only (all copies in, all kernels, all copies out). Stream after "
    "stream nothing overlaps on one copy engine, which the paper does not say (claim on overlap).",
    "t_sc = 0.10 and 0.03 are printed without a unit; they are milliseconds.",
    "t_oh is charged for one stream too: a job without streams takes t_T + t_E, without t_sc.",
    "Table 2's estimates for matrix multiplication on the GTX 480 and t_sc = 0.03 ms contradict each other: they imply "
    "copies at 1.7 GB/s; 0.010 ms would give 5.0 GB/s (claim on Table 2 and t_sc).",
    "Table 2's estimate for p = 256 on the GTX 280, 5.4, is larger than that for p = 512: no equation gives that.",
    "An improvement of 52 to 63 % cannot be a share of the time, of which one copy engine can save half at most: it "
    "must "
    "be t_unstreamed / t_streamed − 1, which is what the gains here are.",
    "The 13 asymmetric tests are named by the first (1 and 23 MB), the last (23 and 1 MB) and their number: equal "
    "steps "
    "of 2 MB are 12 tests.",
    "\"15 M\" elements are 15 x 2^20 (the divisors from 2 to 64 are 18); 15 x 10^6 would have 25 and 50 besides.",
    "The listing writes results over the inputs of the same host array, uses `size` both for elements and for bytes, "
    "and "
    "has an unmatched parenthesis; in §3.1.1 a sum of both copies is printed t_r instead of t_T.",
    "The threshold at which the optimum is recomputed (§4.4) and the weights of the gray value (§4.3) are not given; "
    "Rec. 601 weights are used here.",
    "B/n blocks must fill the GPU for t_E to stay what it is in one launch: named for p = 256, but part of no "
    "equation.",
};

constexpr std::array curves{
    Curves{.table = "fig1",
           .x = "iterations published",
           .y_label = "time",
           .y = {"unstreamed", "2 streams", "4 streams", "8 streams", "16 streams", "32 streams"},
           .log_x = false},
    Curves{.table = "fig2",
           .x = "iterations published",
           .y_label = "time",
           .y = {"unstreamed", "2 streams", "4 streams", "8 streams", "16 streams", "32 streams"},
           .log_x = false},
    Curves{.table = "fig1_today",
           .x = "t_E / t_T",
           .y_label = "time",
           .y = {"unstreamed", "2 streams", "4 streams", "8 streams", "16 streams", "32 streams"},
           .log_x = false},
    Curves{.table = "fig3_gtx280",
           .x = "in",
           .x_label = "bytes to the GPU, of 24 MiB",
           .y_label = "time",
           .y = {"streamed, *", "eqs *"},
           .log_x = false},
    Curves{.table = "fig3_gtx480",
           .x = "in",
           .x_label = "bytes to the GPU, of 24 MiB",
           .y_label = "time",
           .y = {"streamed, *", "eqs *"},
           .log_x = false},
    Curves{.table = "fig4_gtx280",
           .x = "iterations published",
           .y_label = "error of the equations",
           .y = {"2 streams", "4 streams", "8 streams", "16 streams", "32 streams"},
           .log_x = false},
    Curves{.table = "fig4_gtx480",
           .x = "iterations published",
           .y_label = "error of the equations",
           .y = {"2 streams", "4 streams", "8 streams", "16 streams", "32 streams"},
           .log_x = false},
    Curves{.table = "fig5",
           .title = "matrix multiplication, one copy engine",
           .x = "streams",
           .y_label = "time",
           .y = {"one copy engine", "eqs 1 and 3"},
           .each = {"p"},
           .log_y = true},
    Curves{.table = "fig5",
           .title = "matrix multiplication, implicit synchronisation",
           .x = "streams",
           .y_label = "time",
           .y = {"implicit synchronisation", "eqs 5 and 7"},
           .each = {"p"},
           .log_y = true},
    Curves{.table = "fig6",
           .title = "256-bins histogram, one copy engine",
           .x = "streams",
           .y_label = "time",
           .y = {"one copy engine", "eqs 1 and 3"},
           .each = {"frame"},
           .log_y = true},
    Curves{.table = "fig6",
           .title = "256-bins histogram, implicit synchronisation",
           .x = "streams",
           .y_label = "time",
           .y = {"implicit synchronisation", "eqs 5 and 7"},
           .each = {"frame"},
           .log_y = true},
    Curves{.table = "fig7",
           .title = "RGB to grayscale, one copy engine",
           .x = "streams",
           .y_label = "time",
           .y = {"one copy engine", "eqs 1 and 3"},
           .each = {"frame"},
           .log_y = true},
    Curves{.table = "fig7",
           .title = "RGB to grayscale, implicit synchronisation",
           .x = "streams",
           .y_label = "time",
           .y = {"implicit synchronisation", "eqs 5 and 7"},
           .each = {"frame"},
           .log_y = true},
};

}  // namespace

const Experiment gomezluna2012{
    .name = "gomezluna2012",
    .title = "Performance models for asynchronous data transfers on consumer Graphics Processing Units",
    .citation =
        "J. Gómez-Luna, J. M. González-Linares, J. I. Benavides, N. Guil. Journal of Parallel and Distributed "
        "Computing, 2012.",
    .claims = all_claims,
    .steps = steps,
    .faults = faults,
    .curves = curves};

}  // namespace shiplap::experiments
