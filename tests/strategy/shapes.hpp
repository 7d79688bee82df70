// Small jobs with arrays of given roles, and choices of every shape.
#pragma once

#include <string>
#include <vector>

#include "shiplap/strategy/strategy.hpp"
#include "tests/support/jobs.hpp"

namespace shiplap {

inline Job job_with(std::vector<Role> roles, std::uint64_t items = 60) {
  Job job = in_out_job(1_B, 1_B, milliseconds(1), items);
  job.arrays.clear();
  for (std::size_t i = 0; i < roles.size(); ++i)
    job.arrays.push_back(
        {.name = "array " + std::to_string(i), .role = roles[i], .size = Bytes{items * 8}, .element = Bytes{8}});
  return job;
}

inline std::vector<Choice> all_shapes() {
  std::vector<Choice> shapes;
  for (const Layout layout : {Layout::per_chunk, Layout::few, Layout::three})
    for (const IssueOrder order : {IssueOrder::depth, IssueOrder::breadth})
      for (const std::uint32_t chunks : {1u, 2u, 7u, 12u})
        for (const std::uint32_t ring : {0u, 1u, 2u, 3u, 5u})
          for (const std::uint32_t streams : {1u, 2u, 4u}) {
            if (layout != Layout::few && streams != 4) continue;
            shapes.push_back({.chunks = chunks, .layout = layout, .streams = streams, .order = order, .ring = ring});
          }
  return shapes;
}

inline const std::vector<std::vector<Role>> pinned_roles{
    {Role::in, Role::out},
    {Role::in, Role::inout},
    {Role::inout},
    {Role::inout, Role::in, Role::out},
    {Role::out, Role::inout, Role::inout, Role::in, Role::in},
    {Role::broadcast, Role::in, Role::out, Role::out},
    {Role::scratch, Role::in, Role::out},
    {Role::scratch, Role::inout, Role::scratch},
    {Role::broadcast, Role::scratch},
};
}  // namespace shiplap
