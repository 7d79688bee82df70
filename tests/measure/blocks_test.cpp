// Measuring and fitting the movers of scattered blocks on a virtual device whose costs are planted.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/measure/block_trial.hpp"
#include "shiplap/measure/figures.hpp"
#include "shiplap/measure/measure.hpp"
#include "shiplap/measure/primitives.hpp"
#include "shiplap/schedule/names.hpp"
#include "shiplap/schedule/validate.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/support/forwarding_device.hpp"
#include "tests/support/planted_blocks.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

/// With this largest copy the pool has 16 MiB and the blocks of an op at most 4 MiB, which keeps the tests fast.
constexpr Bytes small_pool = 16_MiB;

std::shared_ptr<MeasurableDevice> planted_device() { return open_virtual(planted_profile(), "virtual:planted"); }
/// The same device, for tests of times alone.
std::shared_ptr<MeasurableDevice> fast_planted_device() {
  return open_virtual(planted_profile(), "virtual:planted", VirtualBytes::left_out);
}

MeasureResult measured(MeasurableDevice& device, const std::vector<std::string>& globs, Effort effort) {
  MeasureResult all;
  for (const std::string& only : globs) {
    MeasureResult one = measure(device, {.effort = effort, .largest = small_pool, .only = only, .progress = {}});
    std::ranges::move(one.measurements, std::back_inserter(all.measurements));
    std::ranges::move(one.skipped, std::back_inserter(all.skipped));
    std::ranges::move(one.failed, std::back_inserter(all.failed));
  }
  return all;
}

/// What the fit of blocks uses: their own rows, the link, the kernel gap and the time to record an event.
Profile fitted_blocks(MeasurableDevice& device, const std::vector<std::string>& globs, Effort effort) {
  MeasureResult result = measured(device, globs, effort);
  const auto fast = fast_planted_device();
  MeasureResult others = measured(
      *fast, {"copy.pinned.*", "burst.*", "launch.*", "submit.launch", "submit.record", "submit.wait"}, Effort::quick);
  std::ranges::move(others.measurements, std::back_inserter(result.measurements));
  for (const FailedPoint& point : result.failed) ADD_FAILURE() << point.point << ": " << point.reason;
  return fit(result.measurements, device.info());
}

void expect_planted(const BlockModel& model, const Mover& mover, bool to_device) {
  const std::string name = name_in_profile(mover, MemoryKind::pinned, to_device);
  ASSERT_TRUE(model.movers.contains(name)) << name;
  for (const BlockTime& row : model.movers.at(name)) {
    const BlockCost truth =
        planted_block_cost({.kind = mover.kind, .grid = row.grid}, to_device, row.block, row.blocks);
    const std::string at =
        name + ", " + std::to_string(row.grid) + ", " + to_string(row.block) + " x " + std::to_string(row.blocks);
    EXPECT_NEAR(row.time.value / truth.time, 1, 0.01) << at;
    EXPECT_NEAR(row.call.value / truth.call, 1, 0.01) << at;
  }
}

TEST(FitBlocks, recovers_the_planted_times_and_calls_of_every_mover) {
  const auto device = fast_planted_device();
  const Profile fitted = fitted_blocks(*device, {"blocks.*", "submit.blocks.*"}, Effort::standard);
  ASSERT_TRUE(fitted.link(0).blocks);
  const BlockModel& model = *fitted.link(0).blocks;
  for (const bool to_device : {true, false}) {
    for (const auto kind : {Mover::Kind::copies, Mover::Kind::batch, Mover::Kind::strided, Mover::Kind::kernel})
      expect_planted(model, {.kind = kind}, to_device);
    const std::string by_host = to_device ? "host pinned h2d" : "host pinned d2h";
    ASSERT_TRUE(model.movers.contains(by_host));
    for (const BlockTime& row : model.movers.at(by_host)) {
      EXPECT_NEAR(row.time.value / planted_host_time(to_device, row.block, row.blocks), 1, 0.01)
          << by_host << ", " << to_string(row.block) << " x " << row.blocks;
      EXPECT_EQ(row.call.value, Seconds{0});
    }
  }
  EXPECT_EQ(grids_of(model.movers.at("kernel pinned h2d")), (std::vector<std::uint32_t>{1, 2, 4, 8, 32, 132}));
  EXPECT_NO_THROW(profile_from_json(to_json(fitted), "fitted"));
  const auto reasons = [&](const std::string& parameter) {
    return std::ranges::count(fitted.missing, parameter, &Missing::parameter);
  };
  EXPECT_EQ(reasons("links[0].blocks.movers.kernel managed h2d"), 1) << "the planted device has none";
  EXPECT_EQ(reasons("links[0].blocks.movers.copies pageable d2h"), 1);
  EXPECT_EQ(reasons("links[0].blocks.beside_gather"), 1) << "not measured here";
}

TEST(FitBlocks, recovers_the_planted_slowdowns_of_kernels_beside_movers) {
  const auto device = fast_planted_device();
  const Profile fitted = fitted_blocks(*device, {"blocks.host.*", "beside.*"}, Effort::standard);
  ASSERT_TRUE(fitted.link(0).blocks);
  const BlockModel& model = *fitted.link(0).blocks;
  const auto expect = [](const std::vector<MutualSlowdown>& rows, std::uint32_t grid, double compute, double memory) {
    const auto row = std::ranges::find(rows, grid, &MutualSlowdown::grid);
    ASSERT_NE(row, rows.end()) << grid;
    EXPECT_NEAR(row->compute.value, compute, 0.005) << grid;
    EXPECT_NEAR(row->memory.value, memory, 0.005) << grid;
  };
  // As planted, and on the straight line between grids 1 and 8 for grid 4.
  expect(model.beside_gather, 1, 0.001, 0.01);
  expect(model.beside_gather, 4, 0.001 + 0.003 * 3 / 7, 0.01 + 0.02 * 3 / 7);
  expect(model.beside_gather, 8, 0.004, 0.03);
  expect(model.beside_gather, 32, 0.01, 0.45);
  // The ops of this small pool keep 128 thread blocks busy: 4 % of the way from 132 down to 32.
  expect(model.beside_gather, 132, 0.015, 1.3 - 0.04 * (1.3 - 0.45));
  expect(model.beside_scatter, 1, 0.001, 0.02);
  expect(model.beside_scatter, 8, 0.004, 0.3);
  expect(model.beside_scatter, 32, 0.01, 0.6);
  expect(model.beside_scatter, 132, 0.015, 0.9 - 0.04 * (0.9 - 0.6));
}

TEST(FitBlocks, recovers_what_kernels_add_to_movers_beside_them) {
  Profile truth = planted_profile();
  truth.links[0].blocks = with_planted_waits(planted_blocks());
  const auto device = open_virtual(truth, "virtual:waits", VirtualBytes::left_out);
  MeasureResult result = measure(*device, {.largest = 256_MiB, .only = "moves.*", .progress = {}});
  for (const FailedPoint& point : result.failed) ADD_FAILURE() << point.point << ": " << point.reason;
  for (const std::string only : {"beside.*", "copy.pinned.*", "burst.*", "launch.*", "blocks.host.*"}) {
    const MeasureResult more = measure(*device, {.largest = 256_MiB, .only = only, .progress = {}});
    result.measurements.insert(result.measurements.end(), more.measurements.begin(), more.measurements.end());
  }
  const Profile fitted = fit(result.measurements, device->info());
  ASSERT_TRUE(fitted.link(0).blocks);
  for (const auto& rows : {fitted.link(0).blocks->beside_gather, fitted.link(0).blocks->beside_scatter}) {
    ASSERT_EQ(rows.size(), 7u);
    for (const MutualSlowdown& row : rows) {
      ASSERT_TRUE(row.added) << row.grid;
      EXPECT_NEAR(row.added->wait.value, planted_wait(row.grid), 0.05) << row.grid;
      if (row.grid == 0) {
        EXPECT_NEAR(row.memory.value, 0.02, 0.004);
      }
      if (row.grid == 2 || row.grid == 4) continue;  // between planted rows, where 1 / grid is no line
      for (const bool memory_bound : {false, true}) {
        const MoveDelay planted = planted_added(row.grid, memory_bound);
        const MoveDelay& added = memory_bound ? row.added->memory : row.added->compute;
        EXPECT_NEAR(in_microseconds(added.per_move.value), in_microseconds(planted.per_move.value), 1) << row.grid;
        // Between two kernels of a neighbour nothing is added, which is 2 to 3 % of the time here.
        const double per_block = in_microseconds(planted.per_block.value);
        const double per_mib = in_microseconds(planted.per_mib.value);
        EXPECT_NEAR(in_microseconds(added.per_block.value), per_block, 0.04 * per_block) << row.grid;
        EXPECT_NEAR(in_microseconds(added.per_mib.value), per_mib, std::max(0.3, 0.04 * per_mib)) << row.grid;
      }
    }
  }
}

TEST(FitBlocks, recovers_the_times_of_managed_and_pageable_pools) {
  Profile truth = planted_profile();
  auto& movers = truth.links[0].blocks->movers;
  for (const std::string way : {"h2d", "d2h"}) {
    movers["kernel managed " + way] = movers.at("kernel pinned " + way);
    movers["copies pageable " + way] = movers.at("copies pinned " + way);
  }
  const auto device = open_virtual(truth, "virtual:all-pools");
  const Profile fitted =
      fitted_blocks(*device, {"blocks.*.managed.*", "blocks.*.pageable.*", "submit.blocks.kernel.*"}, Effort::standard);
  ASSERT_TRUE(fitted.link(0).blocks);
  for (const bool to_device : {true, false})
    for (const auto& [kind, memory] :
         {std::pair{Mover::Kind::kernel, MemoryKind::managed}, std::pair{Mover::Kind::copies, MemoryKind::pageable}}) {
      const std::string name = name_in_profile({.kind = kind}, memory, to_device);
      ASSERT_TRUE(fitted.link(0).blocks->movers.contains(name)) << name;
      for (const BlockTime& row : fitted.link(0).blocks->movers.at(name)) {
        const BlockCost cost = planted_block_cost({.kind = kind, .grid = row.grid}, to_device, row.block, row.blocks);
        EXPECT_NEAR(row.time.value / cost.time, 1, 0.01) << name << " " << to_string(row.block) << " x " << row.blocks;
      }
    }
}

TEST(FitBlocks, gives_one_reason_where_no_mover_was_measured) {
  Profile profile = planted_profile();
  profile.links[0].blocks.reset();
  const auto device = open_virtual(profile, "virtual:no-blocks");
  const MeasureResult result = measured(*device, {"blocks.*", "submit.blocks.*"}, Effort::quick);
  EXPECT_TRUE(result.failed.empty());
  for (const Measurement& m : result.measurements) ADD_FAILURE() << m.primitive;
  for (const SkippedPrimitive& row : result.skipped)
    EXPECT_TRUE(row.reason.find("scattered blocks") != std::string::npos ||
                row.reason == "left out of a quick measurement")
        << row.primitive << ": " << row.reason;
  EXPECT_EQ(result.skipped.size(), 26u);
  const Profile fitted =
      fit(measured(*fast_planted_device(), {"copy.pinned.*", "burst.*"}, Effort::quick).measurements, device->info());
  EXPECT_FALSE(fitted.link(0).blocks);
  EXPECT_EQ(std::ranges::count(fitted.missing, std::string("links[0].blocks"), &Missing::parameter), 1);
  EXPECT_NO_THROW(profile_from_json(to_json(fitted), "fitted"));
}

/// A device that changes how the ops with a stream move blocks, or what they have moved.
class WrongMover : public ForwardingDevice {
 public:
  enum class Fault : std::uint8_t {
    damaged_byte,  ///< one byte of the last block is changed after each run
    lost_block,    ///< the last block of two or more stays where it is
  };
  explicit WrongMover(Fault fault) : ForwardingDevice(planted_device()), fault_(fault) {}

  std::unique_ptr<Execution> prepare(const Schedule& schedule, const Bindings& bindings) override {
    Schedule changed = schedule;
    std::byte* victim = nullptr;
    for (Op& op : changed.ops) {
      auto* blocks = std::get_if<BlockCopy>(&op.what);
      if (blocks == nullptr || op.stream.is_none() || blocks->count < 2) continue;
      const BlockList& list = schedule.lists[blocks->list.index()];
      if (fault_ == Fault::lost_block) {
        --blocks->count;
        blocks->packed.length = blocks->packed.length - list.block;
      } else if (blocks->gather) {
        victim = bindings.buffers[blocks->packed.buffer.index()] + blocks->packed.length.count - 1;
      } else {
        const auto& indices = bindings.lists[blocks->list.index()];
        const std::uint64_t last = list.regular ? blocks->count - 1 : indices[blocks->count - 1];
        victim = bindings.buffers[blocks->pool.buffer.index()] + last * list.pitch.count + list.block.count - 1;
      }
    }
    return std::make_unique<ChangedExecution>(inner().prepare(changed, bindings), [victim](RunResult&) {
      if (victim != nullptr) *victim ^= std::byte{1};
    });
  }

 private:
  Fault fault_;
};

TEST(MeasureBlocks, finds_a_wrong_byte_and_a_lost_block_in_both_directions) {
  for (const auto fault : {WrongMover::Fault::damaged_byte, WrongMover::Fault::lost_block}) {
    WrongMover device(fault);
    const MeasureResult result =
        measured(device, {"blocks.batch.*", "blocks.strided.*", "blocks.kernel.?2?"}, Effort::quick);
    EXPECT_FALSE(result.measurements.empty());
    for (const Measurement& m : result.measurements)
      EXPECT_EQ(m.verified, m.arguments.at("blocks") == 1)
          << m.primitive << " " << m.arguments.at("block") << " x " << m.arguments.at("blocks");
  }
}

TEST(MeasureBlocks, verifies_every_point_of_a_sound_device) {
  const auto device = planted_device();
  const MeasureResult result = measured(*device, {"blocks.*", "submit.blocks.*"}, Effort::quick);
  EXPECT_TRUE(result.failed.empty());
  for (const Measurement& m : result.measurements) EXPECT_TRUE(m.verified) << m.primitive;
  const std::vector<Figure> rates = figures(result.measurements);
  const auto figure = std::ranges::find_if(rates, [](const Figure& f) {
    return f.primitive == "blocks.batch.h2d" && f.arguments.at("block") == 4096 && f.arguments.at("blocks") == 256;
  });
  ASSERT_NE(figure, rates.end());
  EXPECT_EQ(figure->bytes, 1_MiB);
}

class BlockRows : public ::testing::Test {
 protected:
  static const DeviceInfo& info() {
    static const DeviceInfo info = planted_device()->info();
    return info;
  }
  static std::vector<const PrimitiveRow*> rows(std::string_view part) {
    std::vector<const PrimitiveRow*> found;
    for (const PrimitiveRow& row : primitive_rows())
      if (row.primitive.name.find(part) != std::string_view::npos) found.push_back(&row);
    return found;
  }
  static std::size_t points(const PrimitiveRow& row, Effort effort) {
    try {
      return row.points({effort, 1_GiB, info()}).size();
    } catch (const Unsupported&) {
      return 0;
    }
  }
};

TEST_F(BlockRows, have_at_most_a_third_of_their_points_in_a_quick_measurement) {
  std::size_t few = 0;
  std::size_t all = 0;
  for (const char* part : {"blocks.", "beside.gather.", "beside.scatter."})
    for (const PrimitiveRow* row : rows(part)) {
      EXPECT_LT(points(*row, Effort::quick), points(*row, Effort::standard)) << row->primitive.name;
      few += points(*row, Effort::quick);
      all += points(*row, Effort::standard);
    }
  EXPECT_LE(3 * few, all);
}

TEST_F(BlockRows, move_at_most_64_MiB_of_a_pool_of_256_MiB_within_the_largest_copy) {
  for (const Bytes largest : {1_GiB, 8_MiB})
    for (const PrimitiveRow* row : rows("blocks."))
      for (const Point& point : row->points({Effort::standard, largest, info()})) {
        const Arguments& arguments = point.variants.front();
        EXPECT_LE(arguments.at("pool"), in_bytes(std::min(256_MiB, largest)));
        EXPECT_LE(arguments.at("block") * arguments.at("blocks"), in_bytes(std::min(64_MiB, largest / 4)))
            << row->primitive.name << " " << point.label;
      }
  EXPECT_THROW(rows("blocks.batch.h2d").front()->points({Effort::quick, 1_KiB, info()}), Unsupported);
}

TEST_F(BlockRows, keep_the_mover_busy_for_longer_than_the_kernels_beside_it) {
  const auto device = planted_device();
  std::vector<const PrimitiveRow*> all = rows("beside.gather.");
  for (const PrimitiveRow* row : rows("beside.scatter.")) all.push_back(row);
  for (const PrimitiveRow* row : all)
    for (const Point& point : row->points({Effort::standard, 128_MiB, info()}))
      for (const Arguments& arguments : point.variants) {
        if (arguments.at("grid") == 0) continue;
        const Trial trial = row->trial(*device, arguments);
        const std::vector<Span> spans = simulate(trial.schedule, planted_profile(), {.held = true}).timeline.spans;
        Seconds kernels_end{0};
        Seconds mover_end{0};
        for (std::size_t i = 0; i < spans.size(); ++i) {
          Seconds& end = trial.schedule.ops[i].stream == trial.timed ? kernels_end : mover_end;
          end = std::max(end, spans[i].end);
        }
        EXPECT_LT(kernels_end, mover_end) << row->primitive.name << " " << point.label;
      }
}

TEST(BlockTrial, names_random_blocks_once_each_and_the_same_ones_every_time) {
  const BlockMoves moves{.mover = {.kind = Mover::Kind::batch}, .pool = 1_MiB, .block = 1_KiB, .blocks = 256};
  const Trial trial = move_blocks(moves);
  EXPECT_TRUE(problems(trial.schedule).empty());
  ASSERT_EQ(trial.lists.size(), 1u);
  const std::vector<std::uint32_t>& places = trial.lists.front();
  EXPECT_EQ(std::set(places.begin(), places.end()).size(), 256u);
  EXPECT_LT(*std::ranges::max_element(places), 1024u);
  EXPECT_FALSE(std::ranges::is_sorted(places));
  EXPECT_EQ(move_blocks(moves).lists, trial.lists);
  BlockMoves too_many = moves;
  too_many.blocks = 513;
  EXPECT_THROW(move_blocks(too_many), Error);
}

TEST(BlockTrial, is_not_held_because_blocks_move_while_the_host_submits) {
  BlockMoves moves{.pool = 1_MiB, .block = 1_KiB, .blocks = 4};
  for (const auto kind : {Mover::Kind::copies, Mover::Kind::batch, Mover::Kind::strided, Mover::Kind::kernel}) {
    moves.mover = {.kind = kind, .grid = kind == Mover::Kind::kernel ? 8u : 0u};
    EXPECT_FALSE(move_blocks(moves).held);
  }
}

}  // namespace
}  // namespace shiplap
