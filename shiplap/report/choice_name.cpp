#include "shiplap/report/choice_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <vector>

namespace shiplap::document {

std::string short_name(const Choice& choice) {
  std::string name = choice.strategy;
  if (choice.chunks > 1) name += fmt::format(", {} chunks", choice.chunks);
  if (choice.gpus > 1) name += fmt::format(" on each of {} GPUs", choice.gpus);
  if (choice.threads > 0) name += fmt::format(", {} thread{} each way", choice.threads, choice.threads == 1 ? "" : "s");
  if (!choice.relay.through.empty()) {
    std::vector<std::uint16_t> gpus;
    for (const RelayShare& one : choice.relay.through) gpus.push_back(one.gpu);
    name += fmt::format(", also through GPU {}", fmt::join(gpus, " and "));
  }
  return choice.graph ? name + ", as a graph" : name;
}

}  // namespace shiplap::document
