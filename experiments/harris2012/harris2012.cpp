// Harris 2012 as claims, steps and faults.
#include "experiments/harris2012/harris2012.hpp"

#include <array>

#include "experiments/papers.hpp"

namespace shiplap::experiments {
namespace {

constexpr std::array claims{
    Claim{"theoretical", "Theoretical bandwidth",
          "The memory of a Tesla M2050 (1,546 MHz, 384 bits, two transfers a cycle) moves 148 GB/s at most."},
    Claim{"formula", "Theoretical bandwidth",
          "Clock times width times two gives the peak bandwidth of a GPU's memory from its data sheet."},
    Claim{"effective", "Effective bandwidth",
          "SAXPY over 20 · 2^20 floats moves 110.374872 GB/s on a Tesla M2050, 74 % of the theoretical bandwidth."},
    Claim{"peaks", "Computational throughput",
          "The peak of a Tesla M2050 is 1,030 GFLOP/s in single and 515 GFLOP/s in double precision."},
    Claim{"bound", "Computational throughput",
          "SAXPY, with two operations for twelve bytes, is limited by the memory: 18.4 GFLOP/s (2N/t of the published "
          "run) of 1,030."},
    Claim{"most", "Summary", "A large share of all kernels is limited by the bandwidth of the memory."},
    Claim{"asynchronous", "CPU timers",
          "A launch returns at once: a CPU timer without a barrier shows the time of the launch, not of the kernel."},
    Claim{"barrier", "CPU timers", "With a barrier behind the launch a CPU timer shows the time of the kernel."},
    Claim{"stall", "CUDA events", "Waits of the host for the device stall the pipeline of the GPU."},
    Claim{"light", "CUDA events", "Events are a light-weight alternative to waits of the host."},
    Claim{"resolution", "CUDA events", "Times between two events have a resolution of about 0.5 µs."},
    Claim{"blocking", "Host-device synchronization",
          "A call of cudaMemcpy holds the host until the copy has ended, unlike a launch."},
    Claim{"correct", "Host-device synchronization",
          "No barrier is needed between kernel and copy back: the largest error of the result is 0.000000."},
    Claim{"transfers", "Summary", "Events around copies give the rate of transfers between host and device."},
};

constexpr std::array steps{
    Step{"bandwidth", "theoretical and effective bandwidth, throughput", harris::run_bandwidth},
    Step{"clocks", "SAXPY by every clock, over sizes", harris::run_clocks},
    Step{"waits", "launches, events and waits", harris::run_waits},
    Step{"copies", "which calls hold the host; the whole program", harris::run_copies},
    Step{"kernels", "what limits the built-in kernels", harris::run_kernels},
};

constexpr std::array<std::string_view, 8> faults{
    "SAXPY is said to read 12 bytes for each element; it reads 8 and writes 4, as the article's own formula for the "
    "bandwidth has it.",
    "N*4*3 is computed in 32 bits and overflows from N = 178,956,971 on: 2.1 GB of traffic, which a GPU of today moves "
    "in less than a millisecond. Counts here are of 64 bits.",
    "The factor 2 is for a clock as the driver reports it. With the command clock of GDDR5 it is 4, of GDDR5X and "
    "GDDR6 "
    "8, of GDDR6X 16, and with the data rate of a pin 1; the article's 1,546 MHz is twice the command clock of its "
    "GDDR5.",
    "That cudaMemcpy always holds the host until the copy has ended is not so: NVIDIA's reference says that copies of "
    "pageable memory to the device return once the data are staged, and those of up to 64 KiB at once (claim 'A "
    "call of cudaMemcpy', with the table of copies by size).",
    "The kernel is timed once, by the first launch of its program, which holds what is done only once, as loading the "
    "kernel: compare 'first run' with the median in the table of the effective bandwidth.",
    "Events around a single launch on an idle GPU are not free of the host either: the first event can pass while the "
    "launch is on its way. Compare the columns 'as listed' and 'alone' of the table over sizes.",
    "Effective bandwidth counts bytes that the kernel asks for. Arrays that fit into a cache of the GPU can show more "
    "than the theoretical bandwidth, so that the figure says nothing without the size (the same table).",
    "Neither the number of runs nor their spread, nor whether ECC was on, is given; the second half of the complete "
    "listing and the name of a header are lost in the text at hand, and the first listings pass 2.0, a double.",
};

}  // namespace

const Experiment harris2012{.name = "harris2012",
                            .title = "How to Implement Performance Metrics in CUDA C/C++",
                            .citation = "M. Harris, NVIDIA Developer Blog, November 2012",
                            .claims = claims,
                            .steps = steps,
                            .faults = faults};

}  // namespace shiplap::experiments
