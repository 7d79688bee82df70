// van Werkhoven, Maassen, Seinstra, Bal: Performance models for CPU-GPU data transfers (CCGrid 2014).
#include <array>

#include "experiments/papers.hpp"
#include "experiments/werkhoven2014/steps.hpp"

namespace shiplap::experiments {
namespace {

using namespace werkhoven;

constexpr std::array claims{
    Claim{
        "table1", "Table I",
        "PCIe 3.0, GTX Titan: L+o 9.420 and 9.023 µs, G 0.08318 and 0.07925 ns/byte (12.0 and 12.6 GB/s), g 2.503 and "
        "2.674 µs, to the GPU and to the host"},
    Claim{"latency", "§V-A", "g < L+o: the latency of a transfer overlaps the transfer before it"},
    Claim{"stream-creation", "§II",
          "creating a stream, estimated at 0.03 ms, is negligible once thousands of kernels use the stream"},
    Claim{"fig5", "Fig. 5",
          "16 MB to the GPU take 1.405 ms in one stream and 2.043 ms in 256 by the model, on a straight line"},
    Claim{"fig6", "Fig. 6", "16 MB to the host take 1.339 ms in one stream and 2.020 ms in 256, on a straight line"},
    Claim{
        "error-h2d", "§V-A",
        "16 MB to 1 GB to the GPU in 1 to 256 streams: the model errs by at most 1.18 %, always with too long a time"},
    Claim{"error-d2h", "§V-A", "the same to the host: at most 2.47 % one way and 0.65 % the other"},
    Claim{"largest-error", "§V-A", "the largest errors are those of the smallest size, 16 MB"},
    Claim{"table2", "Table II",
          "duplex: PCIe 2.0 0.1742 and 0.1747 ns/byte with copies, 0.2492 and 0.2237 with mapped writes; PCIe "
          "3.0 0.1193 and 0.1480 with mapped writes"},
    Claim{
        "contention", "§V-A, §VIII",
        "a direction is slower while the other is busy, and mapped writes slow copies to the GPU down more than copies "
        "do (K20: 1.43 times a byte)"},
    Claim{
        "bounds", "§III",
        "min(peak, memory bandwidth x operational intensity, PCIe bandwidth x data intensity), with the bytes of both "
        "directions added, bounds the performance with perfect overlap"},
    Claim{"eqs1-2", "Fig. 1, Fig. 7", "one copy engine with implicit synchronisation: eqs 1 and 2 give the time"},
    Claim{"eqs3-4", "Fig. 2, Fig. 7", "one copy engine without implicit synchronisation: eqs 3 and 4 give the time"},
    Claim{"eq5", "Fig. 3, Fig. 7", "two copy engines: eq 5 gives the time in both scenarios"},
    Claim{"second-engine", "§IV",
          "a second copy engine improves performance only if t_E/n + t_Thd/n is larger than t_Thd"},
    Claim{"drawback", "§VI", "every estimate for streams shows what more streams cost"},
    Claim{"number-of-streams", "§VI",
          "√(B_hd·G_hd/g), √(t_E/2g), the root of eq 4 and √((T + t_E)/g) put the number of streams near the best"},
    Claim{"state", "Figs 8-10, §VII", "state is fastest as Implicit on all three GPUs"},
    Claim{"buoydiff-fig8", "Fig. 8, §VII", "buoydiff is fastest as Hybrid on the GTX 680 (category 1)"},
    Claim{"buoydiff-fig9", "Fig. 9, §VII", "buoydiff is fastest as Hybrid on the GTX Titan (category 2)"},
    Claim{"buoydiff-fig10", "Fig. 10, §VII",
          "buoydiff is fastest as Streams on the K20 (category 3): Hybrid gains nothing concurrent with two copy "
          "engines"},
    Claim{"classification", "§VII", "the estimates name the fastest implementation of both kernels on all three GPUs"},
    Claim{"error-explicit", "§VII", "Explicit is estimated within 9.73 % (worst: buoydiff on the K20)"},
    Claim{"error-implicit", "§VII", "Implicit is estimated within 3.85 %"},
    Claim{"error-streams", "§VII", "Streams is estimated within 6.46 %"},
    Claim{"error-hybrid", "§VII", "Hybrid is estimated within 10.75 % (worst: state on the GTX Titan)"},
    Claim{"hardest", "§VII", "Hybrid is the hardest to estimate"},
};

constexpr std::array steps{
    Step{"transfers", "Table I, Figs 5 and 6: the link's parameters, and copies beside their model", run_transfers},
    Step{"stream-creation", "§II: the creation of a stream", run_stream_creation},
    Step{"both-ways", "Table II: duplex", run_duplex},
    Step{"categories", "Figs 1-3 and 7: streams on each category of device, and how many", run_categories},
    Step{"published-machines", "Figs 8-10 by the paper's equations and parameters", run_published_machines, false},
    Step{"ocean", "Figs 8-10: state and buoydiff in four implementations", run_ocean},
};

constexpr std::array<std::string_view, 19> faults{
    "Not published: kernel times, the measured times behind all bars as numbers, L+o, G and g of the GTX 680 and of "
    "the "
    "K20 in one direction, g under load, whether state was timed with one output or three, and which kernel and GPU "
    "gave "
    "3.85 % and 6.46 %. Figs 8 and 10 cannot be recomputed, Fig. 9 only with assumed kernel times "
    "(fig9-published-parameters).",
    "How g was measured is not said. The authors' public benchmark subtracts L+o 100 times from a sum of 10 averages, "
    "which makes g too large by 9(L+o)/31 = 2.7 µs, as much as Table I's g; here g comes from bursts of two lengths "
    "(claim table1).",
    "The measure of error is not defined; a performance that is underestimated is assumed to mean a time predicted too "
    "long.",
    "Eqs 1 or 2, 3 or 4 apply to a “dominant” kernel or transfers, which is never defined. Chosen by t_E > T_hd the "
    "estimate jumps; the larger of both is the exact critical path (claims eqs1-2 and eqs3-4, Fig. 7 as printed "
    "against "
    "the larger of both).",
    "Not all estimates show a cost of more streams: eq 3 and the middle term of eq 5 have no g and fall for ever "
    "(claim "
    "drawback).",
    "The condition for a second copy engine to help points the wrong way, and turned round it is necessary but not "
    "sufficient (claim second-engine).",
    "The text on eq 4 says that streams may be reduced until a term exceeds L+o + (T_dh/n) + g(n − 1); in the "
    "displayed "
    "equations, which are right, L+o cancels and T_dh is not divided by n.",
    "The rules for the number of streams choose their case by bytes and have none for equal bytes, which buoydiff has; "
    "times must be compared, since G differs each way.",
    "One g stands in every rule, although Table I has one for each direction: eq 1 wants that to the host, eq 2 the "
    "mean, "
    "eq 5 that of the longer direction.",
    "A real optimum is not a number of streams: of 31.62 the best integer is 32 and not what cutting it off gives, of "
    "1.125 (buoydiff on one engine) it is 2, and 42 levels are cut into 1, 2, 3, 6, 7, 14, 21 or 42.",
    "g is called the reciprocal of a bandwidth for short messages; as used and in Table I it is a time for each "
    "message.",
    "n streams are charged n − 1 gaps, but each stream copies two arrays in and up to three out.",
    "Hybrid is estimated by eq 5, whose third term charges gaps for copies to the host that are not issued; kernel and "
    "writes of a stream are one stage (research/models.md).",
    "Eq 6 takes G of one direction although both are busy at once; with G of Table II the tallest bar of Fig. 9 would "
    "leave its axis. What eq 6 is off by here is in claim error-implicit.",
    "With all of Table II, Hybrid of state with three outputs is behind Streams on the GTX Titan (158.8 against 142.6 "
    "ms); slower only while both directions move it is ahead (125.2 ms): the text allows both readings.",
    "The overlap bounds of §III add the bytes of both directions to one bandwidth, as if the link were half duplex "
    "(claim bounds).",
    "Copies of buoydiff's results are said to wait for the kernel of stream k − 1; kernel k writes level k − 1 of one "
    "result, so that the copy of level k waits for kernel k + 1, as in the authors' code. Waiting for k − 1 returns "
    "stale "
    "data.",
    "The Tesla C2050 is listed with one copy engine; it has two and implicit synchronisation, a category that is "
    "missing.",
    "Table III's column of implicit synchronisation has one glyph in every row of our copy, and Fig. 8 no axis; from "
    "the "
    "text the GTX 680 has it and the other two do not.",
};

/// Figs 8 to 10 are bars, which the tables of these figures give.
constexpr std::array curves{
    Curves{.table = "stream-creation",
           .x = "uses",
           .y_label = "time",
           .y = {"creation and destruction for each use", "published estimate for each use",
                 "g, for each message of a use"},
           .log_y = true},
    Curves{.table = "fig5",
           .x = "streams",
           .y_label = "time",
           .y = {"here", "simulated", "model with the parameters found here", "simulation", "published model"}},
    Curves{.table = "fig6",
           .x = "streams",
           .y_label = "time",
           .y = {"here", "simulated", "model with the parameters found here", "simulation", "published model"}},
    Curves{.table = "fig7-category1",
           .x = "streams",
           .y_label = "time",
           .y = {"here", "simulated", "as printed", "larger of both equations"},
           .each = {"scenario"},
           .log_y = true},
    Curves{.table = "fig7-category2",
           .x = "streams",
           .y_label = "time",
           .y = {"here", "simulated", "as printed", "larger of both equations"},
           .each = {"scenario"},
           .log_y = true},
    Curves{.table = "fig7-category3",
           .x = "streams",
           .y_label = "time",
           .y = {"here", "simulated", "as printed", "in three streams"},
           .each = {"scenario"},
           .log_y = true},
};

}  // namespace

const Experiment werkhoven2014{
    .name = "werkhoven2014",
    .title = "Performance models for CPU-GPU data transfers",
    .citation =
        "B. van Werkhoven, J. Maassen, F. J. Seinstra, H. E. Bal. 14th IEEE/ACM International Symposium on "
        "Cluster, Cloud and Grid Computing (CCGrid), 2014",
    .claims = claims,
    .steps = steps,
    .faults = faults,
    .curves = curves,
};

}  // namespace shiplap::experiments
