// Comm|Scope as claims, steps and faults.
#include "experiments/commscope2019/commscope2019.hpp"

#include <array>

#include "experiments/papers.hpp"

namespace shiplap::experiments {
namespace {

constexpr std::array claims{
    Claim{"table1", "Table 1", "27 benchmarks cover every way in which CUDA moves data within a node."},
    Claim{"fig1", "Fig. 1", "In the training of some networks copies to the GPU take most of the time of all copies."},
    Claim{"flush", "2.2.4, Fig. 2",
          "The caches of the CPU change what copies take: rates have a peak where the data fit into a cache."},
    Claim{"pageable", "4.1, Fig. 6", "Copies of pageable memory are far below what the link carries."},
    Claim{"staging", "4.1, Fig. 6",
          "Copies of pageable memory to the GPU are not faster than one host thread copies to pinned memory."},
    Claim{"link", "4.1, 4.2, Fig. 6",
          "Copies of pinned memory come close to the link: 72 of 75 GB/s (96 %) on the AC922."},
    Claim{"pinned_both", "4.1, Fig. 7",
          "Duplex copies of pinned memory move about twice as much as copies in one direction."},
    Claim{"pageable_both", "4.1, Fig. 7",
          "Duplex copies of pageable memory move hardly more than copies in one direction."},
    Claim{"locality", "4.2, Fig. 6",
          "Where the link is fast, rates depend strongly on which socket the memory is on: 72 and 41 GB/s on the "
          "AC922."},
    Claim{"gpu_links", "4.2, Fig. 8", "Copies between GPUs are limited by the links on their way."},
    Claim{"peer", "4.3, Fig. 8", "Peer access makes copies between GPUs faster, by about 10 GB/s."},
    Claim{"without_peer", "4.3, Fig. 8",
          "Without peer access the link between CPU and GPU is what limits copies between GPUs."},
    Claim{"zero_copy", "4.4, Fig. 9", "At intermediate sizes zero-copy is as fast as copies (AC922)."},
    Claim{"zero_copy_read", "4.4, Fig. 9",
          "Kernels that read host memory are about 10 GB/s slower than copies, those that write are not (S822LC)."},
    Claim{"zero_copy_drop", "4.4, Fig. 9", "Zero-copy becomes much slower at very large sizes, on all machines."},
    Claim{"resources", "4.4", "Zero-copy takes resources of the GPU, which runs a kernel for it."},
    Claim{"demand_to_gpu", "4.5, Fig. 10",
          "Managed memory on demand can come to the GPU faster than copies of pageable memory."},
    Claim{"demand_to_host", "4.5, Fig. 10", "And to the host, with enough host threads."},
    Claim{"threads", "4.5, Fig. 10", "One host thread is not enough for the full rate to the host."},
    Claim{"demand_locality", "4.6, Fig. 10", "Rates on demand hardly depend on where the pages come from."},
    Claim{"demand_limit", "4.6, Fig. 10", "So the link is not what limits managed memory on demand."},
    Claim{"prefetch_large", "4.7, Fig. 11", "At large sizes prefetches are nearly as fast as copies of pinned memory."},
    Claim{"prefetch_middle", "4.7, Fig. 11", "From 4 KiB to 32 MiB prefetches are much slower than copies."},
};

constexpr std::array steps{
    Step{"table1", "the benchmarks and the machines", commscope::run_table1},
    Step{"copies", "Figs 2, 6 and 7: pageable and pinned memory", commscope::run_copies},
    Step{"nodes", "Fig. 6: memory of each NUMA node", commscope::run_nodes},
    Step{"peers", "Fig. 8: between GPUs", commscope::run_peers},
    Step{"zero_copy", "Fig. 9: kernels that access host memory", commscope::run_zero_copy},
    Step{"managed", "Figs 10 and 11: managed memory on demand and by prefetch", commscope::run_managed},
};

constexpr std::array<std::string_view, 16> faults{
    "The text counts 27 benchmarks; its Table 1 has 29 rows, section 3.4 describes one more (on demand between two "
    "GPUs "
    "duplex), and Fig. 6 shows copies from pageable to pinned memory that are in no row: 31 (claim 'Table 1').",
    "Table 1 gives the second zero-copy row of mapped memory as D2D; from the text it can only be D2H, a kernel that "
    "writes host memory.",
    "72 of 75 GB/s is 96 %, not the printed 95 %; and section 4.1 sets the same AC922 beside 80 GB/s, which is what "
    "the "
    "other machine, the S822LC, carries in both directions together.",
    "The link between the CPUs of the AC922 is given as 64 GB/s in both directions together, yet 41 GB/s were measured "
    "one way: "
    "64 GB/s has to be for each direction.",
    "The S822LC has the same error: 38.4 GB/s in both directions together is set beside the 80 GB/s of NVLink as "
    "comparable, which 38.4 "
    "GB/s each way would be to its 40 (likely the same slip).",
    "UPI is said to join CPUs and GPUs of the 4029GP; it joins the CPUs, and its GPUs are attached to PCIe 3.0 and "
    "NVLink 2.0 "
    "(Table 2).",
    "Section 2.1.1 times zero-copy from and to the host by the host's clock, section 3.3 by events, as the public code "
    "does: here by events (Fig. 9).",
    "What the kernel that reads host memory does with what it reads is not said: sums that go into a variable that "
    "nobody looks at leave no read in what nvcc 13 makes for sm_80 and sm_90. Here a kernel writes what it reads to "
    "memory of the GPU, and the bytes are compared (Fig. 9).",
    "The copy into pinned memory by one thread is said to limit copies of pageable memory to the GPU. A copy of a "
    "whole buffer is no upper limit of what the driver's copies through a small one can reach (claim 'Copies of "
    "pageable memory to the GPU are not faster than one host thread copies').",
    "The introduction has unified memory faster than cudaMalloc with cudaMemcpy; section 4.5 says only that it can be. "
    "Here copies out of the caches of the CPU and out of memory stand beside it (claim 'Managed memory on demand can "
    "come to the GPU faster').",
    "The CPU caches of the x86 machine may not have been flushed: the public code hands the instruction the variable "
    "that holds the address, not the address, in every version from 0.4.0 to 0.9.0. Here a test proves by latencies "
    "that the memory itself is flushed, and flushed and unflushed rates stand beside each other (Fig. 2).",
    "Duplex copies of pageable memory are said to take turns because the driver allows one copy into its buffers at "
    "a time. Nothing says whether one thread submitted both; here each way has a submitting thread of its own (claim "
    "'Duplex copies of pageable memory').",
    "The call is cudaEventElapsedTime, not cudaEventGetElapsedTime; the AC922 is the 8335-GTH of Table 2, the 3885-GTG "
    "of the text is a misprint; and a single NVLink 1.0 is named on a machine with NVLink 2.0.",
    "Error bars are the standard deviation of five runs, without a word on whether it is divided by 5 or 4.",
    "That zero-copy becomes slow at very large sizes is shown without an explanation; sizes of that regime are "
    "readable "
    "off a picture only.",
    "Almost all results are pictures without numbers: beside ours stand the few figures that the text prints.",
};

/// The paper's curves are pictures without numbers, so that no published points stand beside these.
constexpr std::array curves{
    Curves{.table = "fig2", .x = "size", .y_label = "rate", .y = {"pageable *", "pinned *"}},
    Curves{.table = "fig6", .x = "size", .y_label = "rate", .y = {"pageable *", "pinned *"}},
    Curves{.table = "fig6_nodes", .x = "size", .y_label = "rate", .y = {"pinned, *"}},
    Curves{.table = "fig7", .x = "size", .y_label = "rate", .y = {"pinned *", "pageable *"}},
    Curves{.table = "fig7_ratio",
           .x = "size each way",
           .y_label = "duplex over one direction",
           .y = {"pinned", "pageable"}},
    Curves{.table = "fig8", .x = "size", .y_label = "rate", .y = {"with *", "without *"}},
    Curves{.table = "fig9", .x = "size", .y_label = "rate", .y = {"copy *", "read, *", "write, *"}},
    Curves{.table = "grids", .x = "blocks of 256 threads", .y_label = "rate", .y = {"read", "write"}},
    Curves{.table = "fig10_h2d", .x = "size", .y_label = "rate", .y = {"on demand", "from another GPU", "copy *"}},
    Curves{.table = "fig10_d2h", .x = "size", .y_label = "rate", .y = {"* thread(s)", "copy *"}},
    Curves{.table = "fig11", .x = "size", .y_label = "rate", .y = {"prefetch*", "copy *"}},
};

}  // namespace

const Experiment commscope2019{
    .name = "commscope2019",
    .title = "Evaluating Characteristics of CUDA Communication Primitives on High-Bandwidth Interconnects",
    .citation = "C. Pearson, A. Dakkak, S. Hashash, C. Li, I.-H. Chung, J. Xiong, W.-M. Hwu, ICPE 2019",
    .claims = claims,
    .steps = steps,
    .faults = faults,
    .curves = curves};

}  // namespace shiplap::experiments
