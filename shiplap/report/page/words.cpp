#include "shiplap/report/page/words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shiplap/strategy/strategy.hpp"

namespace shiplap::page {

std::vector<Word> words() {
  std::vector<Word> all{
      {"bound", "A time that no strategy is below on this node: every byte and every item once, at the fastest rates."},
      {"chunk", "One of the parts into which a job is cut, so that copies and kernels of different parts overlap."},
      {"copies in batches", "The copies of a chunk are submitted by one call (cudaMemcpyBatchAsync)."},
      {"D2H", "From the GPU to the host."},
      {"degraded", "Slower than the baseline by more than the tolerance."},
      {"depth-first, breadth-first",
       "Whether ops are submitted chunk by chunk, or all copies first, then all kernels."},
      {"duplex", "Copies in one direction while the other direction is busy too."},
      {"H2D", "From the host to the GPU."},
      {"ideal overlap", "The time of the longest stage alone: all copies in, all copies out, or the kernel."},
      {"mover", "What moves scattered blocks: a copy for each, one batch of copies, a strided copy, or a kernel."},
      {"prediction interval", "Nine of ten observed times should lie in it."},
      {"profile", "What is known of one node: rates, latencies and overheads, with the measurements behind them."},
      {"race", "Runs of the best candidates in turn on the node itself, until the fastest is known (shiplap tune)."},
      {"ramp first:last:growth",
       "Chunks of different sizes: the first and the last relative to the largest, and the factor from one to the "
       "next."},
      {"roofline, van-werkhoven-2014", "Closed formulas beside the simulation; \"as printed\" is without corrections."},
      {"steady", "The samples of a steady point agree within 5 %."},
      {"three streams", "One stream for copies in, one for kernels, one for copies out, tied by events."},
      {"tie",
       "A choice whose prediction interval overlaps that of the fastest, so that predictions do not tell them apart."},
      {"zero-copy", "Kernels access pinned host memory themselves."}};
  for (const Strategy& strategy : strategies())
    all.push_back({fmt::format("strategy {}", strategy.name), fmt::format("{}.", strategy.summary)});
  std::ranges::stable_sort(all, {}, &Word::word);
  return all;
}

}  // namespace shiplap::page
