// shiplap movers: prints what moves scattered blocks fastest on a node, and the sizes at which another mover is better.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/cli11.hpp"
#include "cli/node.hpp"

namespace shiplap::cli {

struct MoversFlags {
  NodeFlags node;
  std::vector<std::string> counts;
  std::string pool = "pinned";
  std::string max_slowdown;            ///< a fraction; empty: no limit
  std::optional<double> memory_bound;  ///< absent: no neighbour, unless `thread_block` is given
  std::string thread_block;            ///< a time; empty: that of `Neighbour{}`
  std::string svg;                     ///< file of the picture; empty: none
  bool regular = false;
  bool all = false;
  bool json = false;
};
void add_movers(CLI::App&);
void run_movers(const MoversFlags&);

}  // namespace shiplap::cli
