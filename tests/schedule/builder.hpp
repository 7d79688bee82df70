// Builds schedules op by op, for the tests of this room.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "shiplap/schedule/validate.hpp"

namespace shiplap::testing_schedules {

inline Buffer buffer(std::string name, Place place, MemoryKind memory, Bytes size) {
  return {.name = std::move(name), .place = place, .memory = memory, .size = size};
}

// Builds schedules op by op.
struct Builder {
  Schedule schedule;

  BufferId host(std::string name, Bytes size) {
    return schedule.add_buffer(buffer(std::move(name), Place::host(), MemoryKind::pinned, size));
  }
  BufferId device(std::string name, Bytes size) {
    return schedule.add_buffer(buffer(std::move(name), Place::gpu(), MemoryKind::device, size));
  }
  OpId copy(StreamId stream, Region from, Region to, std::vector<OpId> after = {}, std::uint32_t chunk = 0) {
    return add(Copy{.from = from, .to = to}, stream, std::move(after), chunk);
  }
  OpId kernel(StreamId stream, std::vector<Access> operands, std::vector<OpId> after = {}, std::uint32_t chunk = 0) {
    Kernel k;
    k.kernel = {0};
    k.operands = std::move(operands);
    return add(k, stream, std::move(after), chunk);
  }
  OpId host_copy(AgentId agent, Region from, Region to, std::vector<OpId> after = {}, std::uint32_t chunk = 0) {
    const OpId id = add(HostCopy{.from = from, .to = to}, {}, std::move(after), chunk);
    schedule.ops.back().agent = agent;
    return id;
  }
  OpId add(decltype(Op::what) what, StreamId stream, std::vector<OpId> after, std::uint32_t chunk) {
    return schedule.add(
        {.what = std::move(what), .stream = stream, .agent = {0}, .after = std::move(after), .chunk = chunk});
  }
};

inline Access read(Region region) { return {.region = region, .mode = AccessMode::read}; }
inline Access write(Region region) { return {.region = region, .mode = AccessMode::write}; }

inline std::string joined(const std::vector<std::string>& sentences) {
  std::string all;
  for (const std::string& s : sentences) all += s + "\n";
  return all;
}

#define EXPECT_REFUSED(schedule_, part)                                    \
  do {                                                                     \
    const std::string text = joined(problems(schedule_));                  \
    EXPECT_NE(text.find(part), std::string::npos) << "problems: " << text; \
  } while (false)

}  // namespace shiplap::testing_schedules
