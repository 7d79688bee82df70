#include "shiplap/report/choice_name.hpp"

#include <fmt/format.h>

namespace shiplap::document {

std::string short_name(const Choice& choice) {
  std::string name = choice.strategy;
  if (choice.chunks > 1) name += fmt::format(", {} chunks", choice.chunks);
  if (choice.gpus > 1) name += fmt::format(" on each of {} GPUs", choice.gpus);
  if (choice.threads > 0) name += fmt::format(", {} thread{} each way", choice.threads, choice.threads == 1 ? "" : "s");
  return choice.graph ? name + ", as a graph" : name;
}

}  // namespace shiplap::document
