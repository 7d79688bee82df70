#include "shiplap/measure/primitives.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/schedule/validate.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

class PrimitiveTable : public ::testing::Test {
 protected:
  Setting setting(Effort effort, Bytes largest = 1_GiB) const { return {effort, largest, device_->info()}; }
  static const PrimitiveRow& row(std::string_view name) {
    for (const PrimitiveRow& row : primitive_rows())
      if (row.primitive.name == name) return row;
    throw Error("no such primitive");
  }
  std::shared_ptr<MeasurableDevice> device_ = open_virtual(planted_profile(), "virtual:planted");
};

TEST_F(PrimitiveTable, names_every_primitive_once_and_says_what_it_is_and_by_which_clock) {
  std::set<std::string_view> names;
  for (const Primitive& primitive : primitives()) {
    EXPECT_TRUE(names.insert(primitive.name).second) << primitive.name;
    EXPECT_FALSE(primitive.summary.empty()) << primitive.name;
    EXPECT_TRUE(primitive.clock == "events" || primitive.clock == "host") << primitive.name;
  }
  EXPECT_EQ(names.size(), primitive_rows().size());
}

/// Whether a quick run, one that is not full, a single GPU or a host with one NUMA node does without this row; any
/// other reason not to have points is a fault here.
bool has_no_points(const PrimitiveRow& row, Effort effort) {
  try {
    row.points({effort, 1_GiB, open_virtual(planted_profile(), "virtual:planted")->info()});
  } catch (const Unsupported& reason) {
    const std::string why = reason.what();
    EXPECT_TRUE((why == "left out of a quick measurement" && effort == Effort::quick) ||
                (why == "measured with --full only" && effort != Effort::full) ||
                why.find("is one GPU") != std::string::npos || why.find("has one NUMA node") != std::string::npos)
        << row.primitive.name << ": " << why;
    return true;
  }
  return false;
}

TEST_F(PrimitiveTable, holds_sound_schedules_only_of_at_most_512_ops_and_1_GiB_each_way) {
  for (const Effort effort : {Effort::quick, Effort::standard}) {
    for (const PrimitiveRow& row : primitive_rows()) {
      if (has_no_points(row, effort)) continue;
      for (const Point& point : row.points(setting(effort))) {
        for (const Arguments& arguments : point.variants) {
          const Trial trial = row.trial(*device_, arguments);
          EXPECT_TRUE(problems(trial.schedule).empty()) << row.primitive.name << " " << point.label;
          EXPECT_LE(trial.schedule.ops.size(), 512u) << row.primitive.name << " " << point.label;
          for (const auto& transfer : trial.transfers)
            EXPECT_LE(transfer.length, 1_GiB) << row.primitive.name << " " << point.label;
        }
      }
    }
  }
}

TEST_F(PrimitiveTable, covers_1_byte_to_1_GiB_in_powers_of_two) {
  const auto points = row("copy.pinned.h2d").points(setting(Effort::standard));
  ASSERT_EQ(points.size(), 31u);
  for (unsigned i = 0; i < 31; ++i) EXPECT_EQ(points[i].variants.at(0).at("bytes"), static_cast<double>(1ull << i));
  EXPECT_EQ(row("copy.pinned.h2d").points(setting(Effort::quick)).size(), 10u);
}

TEST_F(PrimitiveTable, stays_within_the_largest_copy) {
  for (const char* name : {"copy.pinned.d2h", "burst.pinned.h2d", "duplex.pinned.h2d"})
    for (const Point& point : row(name).points(setting(Effort::standard, 2_MiB)))
      for (const Arguments& arguments : point.variants) EXPECT_LE(arguments.at("bytes"), 2.0 * 1024 * 1024) << name;
  EXPECT_THROW(row("duplex.pinned.d2h").points(setting(Effort::standard, 1_KiB)), Unsupported);
}

TEST_F(PrimitiveTable, tries_grids_on_both_sides_of_the_end_of_a_wave) {
  std::set<double> grids;
  for (const Point& point : row("kernel.grid").points(setting(Effort::quick)))
    grids.insert(point.variants.at(0).at("blocks"));
  // 132 SMs of 2048 threads hold 264 blocks of 1024.
  for (const double blocks : {1., 263., 264., 265., 528., 529., 1056.}) EXPECT_TRUE(grids.contains(blocks)) << blocks;
}

TEST_F(PrimitiveTable, flushes_all_host_memory_of_the_flushed_rows_and_measures_the_same_without_a_flush) {
  std::size_t flushed_rows = 0;
  for (const PrimitiveRow& flushed : primitive_rows()) {
    const std::string name(flushed.primitive.name);
    const std::string ending = ".flushed";
    if (!name.ends_with(ending) || name.starts_with("numa.")) continue;
    ++flushed_rows;
    std::set<Arguments> unflushed;
    for (const Point& point : row(name.substr(0, name.size() - ending.size())).points(setting(Effort::standard)))
      unflushed.insert(point.variants.begin(), point.variants.end());
    EXPECT_THROW(flushed.points(setting(Effort::quick)), Unsupported) << name;
    for (const Point& point : flushed.points(setting(Effort::standard))) {
      for (const Arguments& arguments : point.variants) {
        EXPECT_TRUE(unflushed.contains(arguments)) << name << " " << point.label;
        const Trial trial = flushed.trial(*device_, arguments);
        ASSERT_TRUE(trial.before) << name;
        EXPECT_TRUE(problems(*trial.before).empty()) << name;
        std::set<std::uint32_t> dropped;
        for (const Op& op : trial.before->ops) {
          const auto* call = std::get_if<HostCall>(&op.what);
          ASSERT_TRUE(call != nullptr && call->kind == HostCall::Kind::flush) << name;
          EXPECT_EQ(call->region.offset, 0_B) << name;
          EXPECT_EQ(call->region.length, trial.schedule.buffers[call->region.buffer.index()].size) << name;
          EXPECT_TRUE(dropped.insert(call->region.buffer.value).second) << name;
        }
        std::set<std::uint32_t> on_host;
        for (std::uint32_t b = 0; b < trial.schedule.buffers.size(); ++b)
          if (trial.schedule.buffers[b].place.is_host()) on_host.insert(b);
        EXPECT_EQ(dropped, on_host) << name;
      }
    }
  }
  EXPECT_EQ(flushed_rows, 8u);
}

TEST_F(PrimitiveTable, verifies_every_byte_of_the_flushed_rows) {
  const MeasureResult result = measure(*device_, {.largest = 8_MiB, .only = "*.flushed", .progress = {}});
  for (const FailedPoint& failed : result.failed) ADD_FAILURE() << failed.point << ": " << failed.reason;
  std::set<std::string> measured;
  for (const Measurement& m : result.measurements) {
    EXPECT_TRUE(m.verified) << m.primitive;
    measured.insert(m.primitive);
  }
  for (const char* name : {"copy.pinned.both.flushed", "copy.pageable.both.flushed", "mapped.read.flushed",
                           "mapped.write.flushed", "copy.pageable.h2d.flushed"})
    EXPECT_TRUE(measured.contains(name)) << name;
}

TEST_F(PrimitiveTable, measures_no_duplex_on_one_copy_engine) {
  const auto single = open_virtual(paper_profile({.copy_engines = 1}), "virtual:paper");
  EXPECT_THROW(row("duplex.pinned.d2h").points({Effort::quick, 1_GiB, single->info()}), Unsupported);
}

}  // namespace
}  // namespace shiplap
