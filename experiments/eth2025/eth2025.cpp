// Overlapping data transfer and computation on GPU (ETH Zürich, 2025): its claims, and the steps that check them.
#include <array>

#include "experiments/eth2025/steps.hpp"
#include "experiments/papers.hpp"

namespace shiplap::experiments {
namespace {

constexpr std::array claims{
    Claim{"fig1-best", "Fig. 1, §4.2", "One arccos call gains most on 2^29 elements: 1.766 with 32 streams."},
    Claim{"fig1-size", "Fig. 1, §4.2", "The best speed-up of one call grows with the array, up to 2^29 elements."},
    Claim{"fig1-streams", "Fig. 1, §4.2",
          "The best number of streams depends on the size, and beyond it chunks get too small."},
    Claim{"fig2-from", "Fig. 2, §4.2", "With one call streams pay off from 2^19 elements on."},
    Claim{"fig2-256", "Fig. 2, §4.2", "With one call 256 streams are faster than one only at 2^27 and 2^29 elements."},
    Claim{"fig2-overhead", "Fig. 2, §4.2",
          "For most sizes the overhead of streams decides, and it grows with their number (by 5.1 µs each)."},
    Claim{"fig2-gt4py", "Fig. 2, §4.2", "GT4Py takes two orders of magnitude longer than CUDA for arccos."},
    Claim{"threads", "§3", "The number of threads per block makes no significant difference to arccos."},
    Claim{"fig3-best", "Fig. 3, §4.2", "2^23 elements gain most with 32 calls: 2.0 with 16 streams."},
    Claim{"fig3-one-call", "Fig. 3, §4.2", "With one call 2^23 elements gain no more than 1.34."},
    Claim{"fig3-peak", "Fig. 3, §4.2", "The gain grows with the calls up to 32 and falls beyond."},
    Claim{"fig3-limit", "§4.2, §5", "2.0 is the optimal speed-up that overlapping can reach."},
    Claim{"fig3-beyond", "§4.2", "Beyond 32 calls the gain falls because the GPU's resources are used up."},
    Claim{"fig4-best", "Fig. 4, §4.2", "The stencil gains 1.88 with 8192 levels and 512 steps (128 streams)."},
    Claim{"fig4-growth", "Fig. 4", "The more levels, the higher the best speed-up: 1.10 with 8, 1.88 with 8192."},
    Claim{"fig4-streams", "Fig. 4", "The best number of streams grows with the levels: 4 with 8, 128 with 8192."},
    Claim{"deep", "§4.1, the authors' data",
          "The largest field, 65536 levels of 128 x 128, gains 1.64 with 128 streams (32 steps)."},
    Claim{"fig5", "Fig. 5, §4.2",
          "The stencil gains because kernels of different streams run side by side, not because copies are hidden."},
    Claim{"squares", "§4.1, the authors' data",
          "64 levels of 8 x 8 to 512 x 512 gain 1.3 to 1.6, of 1024 x 1024 1.16, and of 4096 x 4096 nothing (1.01)."},
    Claim{"fig7-linear", "Fig. 7", "The time of the stencil grows linearly with the number of steps."},
    Claim{"fig6-gt4py", "Figs 6 and 7",
          "With 4096 levels GT4Py (0.01166 s a step) is faster than CUDA in one stream and slower than in many."},
    Claim{"fig8-slope", "Figs 7 and 8",
          "GT4Py takes as long a step for 8192 levels (0.01183 s) as for 4096 (0.01166 s), after 4 s of overhead."},
    Claim{"validation", "the authors' program", "A result is right when it is within 1e-5 of the reference."},
};

constexpr std::array steps{
    Step{"fig1-2", "one arccos call by size and streams", eth::one_call},
    Step{"fig3", "arccos calls and streams on 2^23 elements", eth::more_calls},
    Step{"largest", "arccos calls and streams on 2^29 elements", eth::largest_array},
    Step{"fig4", "the stencil by levels and streams", eth::levels},
    Step{"fig4-deep", "the stencil with up to 65536 levels", eth::many_levels},
    Step{"fig4-levels", "the stencil with a launch for each level", eth::level_launches},
    Step{"squares", "the stencil by size of its 64 levels", eth::squares},
    Step{"fig6-8", "the stencil by number of steps", eth::time_steps},
    Step{"validation", "what the checks of results let pass", eth::validation},
};

constexpr std::array<std::string_view, 17> faults{
    "2.0 is called the optimal speed-up; with copies in, kernel and copies out at once the bound is 3, and the "
    "authors' "
    "own file holds 2.499 (32 calls, 2^29 elements, 256 streams) (above, under §4.2 and §5).",
    "That resources run out beyond 32 calls is not shown: a longer kernel leaves less to hide, (copies + kernel) / "
    "kernel, which falls without any shortage (above, under §4.2).",
    "A gain is said to need many computations for each byte; its own 1.766 is with one call, where copies in "
    "both directions can overlap (above, under Fig. 1).",
    "Run-to-run placement was not controlled: one stream takes 50.5 ms for one call and 2^29 elements in one run and "
    "19.6 ms in another, so that its best speed-up there is 1.77, 1.81 or 1.41.",
    "The figures come from different runs without a word: Fig. 1 from 257136 (1.766), Fig. 3 from 269302 (1.814 for "
    "the "
    "point of Fig. 1).",
    "The kernel of fp32 data divides by π in double precision; the number of calls at the peak is that of this "
    "kernel.",
    "The warm-up is another process, so that every mean of ten holds costs of first use, and the time is by the host's "
    "clock with its submissions.",
    "The tolerance of 1e-5 takes zeros for the results of 32 calls and more (above, the authors' program).",
    "The base of the stencil's 1.88 is one launch for each level and step (4.2 million, 3.4 µs each); in 128 "
    "streams they take 1.8 µs each. One launch for all levels was not tried (above, under Fig. 5).",
    "The stencil's times hold more than its computation: memory is allocated, streams are made and destroyed and "
    "pageable memory is copied, each of which waits, between first and last reading of the clock. So Fig. 4 shows "
    "launches side by side and no copy that overlaps (§4.2, the authors' program).",
    "The stencil is said to copy too little to gain by overlapping copies. That follows from a launch for each level, "
    "which takes the time: with one launch for all levels and few steps it need not (above, the largest field).",
    "Fig. 6 is of 4096 levels by the text and of 8192 by its caption.",
    "CUDA is said to be faster than GT4Py in general; by the report's own lines GT4Py takes 11.83 ms a step of 8192 "
    "levels and CUDA in 64 streams 14.61 ms. One launch for all levels of a step was not tried (above, Figs 7 and 8).",
    "The largest speed-up of the stencil in the authors' file is 1.9045 (16384 levels, 1024 steps, 128 streams).",
    "The largest fields are said to use all of the GPU's memory; 65536 levels of 134 x 134 doubles are 9.4 GB of 96.",
    "65536 levels take less time than 32768 in the authors' file (35.7 against 44.0 s, 512 steps, one stream), which "
    "no program can do that computes them all alike.",
    "GT4Py is said to be optimised and to have 4 s of overhead for 8192 levels: in the authors' file its step takes "
    "11.3 ms from 8 levels on, so that it waits for its host (likely), and it begins with 0.49 ms for every level at "
    "512 to "
    "2048 "
    "and 8192 levels; 4096, with 0.17 s, is the exception.",
};

/// Fig. 5 is a timeline of a profiler.
constexpr std::array curves{
    Curves{.table = "fig1",
           .x_label = "streams",
           .y_label = "speed-up over one stream",
           .y = {"in *"},
           .each = {"elements"}},
    Curves{.table = "fig1-best",
           .title = "largest speed-up of one arccos call",
           .x = "elements",
           .y_label = "speed-up over one stream",
           .y = {"speed-up", "speed-up of the plan's choice", "speed-up with ideal overlap", "published speed-up"}},
    Curves{.table = "fig2", .x = "elements", .y_label = "time", .y = {"in *", "plan's choice"}, .log_y = true},
    Curves{
        .table = "fig3", .x_label = "streams", .y_label = "speed-up over one stream", .y = {"in *"}, .each = {"calls"}},
    Curves{.table = "fig3-best",
           .title = "largest speed-up of 2^23 elements",
           .x = "calls",
           .y_label = "speed-up over one stream",
           .y = {"speed-up", "speed-up of the plan's choice", "speed-up with ideal overlap", "published speed-up"}},
    Curves{.table = "fig3-times",
           .x = "streams",
           .y_label = "time",
           .y = {"1 call", "32 calls", "1 call, published", "32 calls, published"},
           .log_y = true},
    Curves{.table = "largest",
           .x_label = "streams",
           .y_label = "speed-up over one stream",
           .y = {"in *"},
           .each = {"calls"}},
    Curves{.table = "largest-best",
           .title = "largest speed-up of 2^29 elements",
           .x = "calls",
           .y_label = "speed-up over one stream",
           .y = {"speed-up", "speed-up of the plan's choice", "speed-up with ideal overlap", "published speed-up"}},
    Curves{.table = "largest-times",
           .x = "streams",
           .y_label = "time",
           .y = {"1 call", "32 calls", "1 call, published", "32 calls, published"},
           .log_y = true},
    Curves{.table = "fig4",
           .x_label = "streams",
           .y_label = "speed-up over one stream",
           .y = {"in *"},
           .each = {"levels"}},
    Curves{.table = "fig4-best",
           .title = "largest speed-up of the stencil",
           .x = "levels",
           .y_label = "speed-up over one stream",
           .y = {"speed-up", "speed-up of the plan's choice", "speed-up with ideal overlap", "published speed-up"}},
    Curves{.table = "fig4-levels",
           .x = "streams",
           .y_label = "speed-up over one stream",
           .y = {"speed-up", "published speed-up, 512 steps"}},
    Curves{.table = "squares",
           .x_label = "streams",
           .y_label = "speed-up over one stream",
           .y = {"in *"},
           .each = {"nx = ny"}},
    Curves{.table = "squares-best",
           .title = "largest speed-up of the stencil with 64 levels",
           .x = "nx = ny",
           .y_label = "speed-up over one stream",
           .y = {"speed-up", "speed-up of the plan's choice", "speed-up with ideal overlap", "published speed-up"}},
    Curves{.table = "fig6",
           .title = "time of diffusion by number of streams",
           .x_label = "streams",
           .y_label = "time",
           .y = {"in *"},
           .each = {"levels", "steps"},
           .log_y = true},
    Curves{.table = "fig6",
           .title = "time of diffusion by number of steps",
           .x = "steps",
           .y_label = "time",
           .y = {"in 1", "in 64", "published, *"},
           .each = {"levels"},
           .log_x = false},
};

}  // namespace

const Experiment eth2025{
    .name = "eth2025",
    .title = "Overlapping data transfer and computation on GPU",
    .citation =
        "F. Stühlinger, H. Thun, P. Stark, R. Graf. Project report of the course High Performance Computing for "
        "Weather and Climate, ETH Zürich, 2025. Times: github.com/grafrap/HPC4WC-overlapping, commit 9d516c9.",
    .claims = claims,
    .steps = steps,
    .faults = faults,
    .curves = curves};

}  // namespace shiplap::experiments
