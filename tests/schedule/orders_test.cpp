// Random schedules against an interpreter that knows nothing of shiplap's analysis: what `validate` accepts gives the
// same bytes in every legal order, and what it refuses breaks a stated rule or has two orders with different results.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "shiplap/core/error.hpp"
#include "shiplap/device/bindings.hpp"
#include "shiplap/device/virtual/virtual_device.hpp"
#include "shiplap/schedule/validate.hpp"
#include "shiplap/sim/simulate.hpp"
#include "tests/schedule/broken_rules.hpp"
#include "tests/schedule/drawn_schedule.hpp"
#include "tests/schedule/submission_machine.hpp"
#include "tests/support/planted_profile.hpp"

namespace shiplap {
namespace {

using namespace testing_orders;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Two planted GPUs that address each other's memory.
Profile planted_pair() {
  Profile profile = planted_profile();
  profile.gpus.push_back(profile.gpus.front());
  profile.links.push_back(profile.links.front());
  profile.links.back().gpu = 1;
  const std::vector<TimeAt> times{{.size = 4_KiB, .time = Interval<Seconds>::exact(microseconds(9))}};
  profile.peers = {{.from = 0, .to = 1, .direct = times, .staged = times},
                   {.from = 1, .to = 0, .direct = times, .staged = times}};
  return profile;
}

/// Profiles whose GPUs serve streams in different ways.
std::vector<Profile> profiles() {
  std::vector<Profile> all(4, planted_pair());
  const auto set = [&](std::size_t i, unsigned copy_engines, EngineOrder order, ImplicitSync implicit_sync) {
    for (GpuModel& gpu : all[i].gpus) {
      gpu.copy_engines = copy_engines;
      gpu.engine_order = order;
      gpu.implicit_sync = implicit_sync;
      gpu.concurrent_kernels = false;
      all[i].name = fmt::format("planted {}", i);
    }
  };
  set(1, 2, EngineOrder::submission, ImplicitSync::none);
  set(2, 1, EngineOrder::submission, ImplicitSync::until_ended);
  set(3, 1, EngineOrder::readiness, ImplicitSync::until_started);
  return all;
}

/// What became of the schedules.
struct Tally {
  std::uint64_t accepted = 0;
  std::uint64_t concatenated = 0;     ///< of these, schedules made of two runs of another one
  std::uint64_t without_indices = 0;  ///< no indices fit the lists
  std::uint64_t orders = 0;           ///< random legal orders that were run
  std::uint64_t on_device = 0;        ///< runs on the virtual device
  std::uint64_t simulated = 0;
  std::uint64_t unsupported = 0;     ///< simulations that a profile has no figures for
  std::uint64_t unordered = 0;       ///< schedules that were refused for unordered accesses
  std::uint64_t by_chance = 0;       ///< of these, schedules for which a few random orders differ
  std::uint64_t pairs = 0;           ///< pairs of ops that were reported as unordered
  std::uint64_t byte_witnesses = 0;  ///< pairs whose order changes the bytes at the end
  std::uint64_t witnesses = 0;       ///< other pairs whose order changes what an op reads, or bytes that are lost later
  std::uint64_t whole_pools = 0;     ///< pairs that conflict only because an op counts as using all of its pool
  std::map<std::string, std::uint64_t> by_rule{};  ///< reports by rule

  void print() const {
    std::printf(
        "%lu accepted (%lu of them twice one after the other; %lu without fitting indices), %lu random orders, %lu "
        "runs on the virtual device, %lu simulations "
        "and %lu unsupported; %lu refused as unordered (%lu of them differ in ten random orders), %lu pairs: %lu with "
        "other bytes at the end, %lu with other "
        "reads or lost bytes, %lu through a whole pool\n",
        accepted, concatenated, without_indices, orders, on_device, simulated, unsupported, unordered, by_chance, pairs,
        byte_witnesses, witnesses, whole_pools);
    for (const auto& [rule, count] : by_rule) std::printf("%8lu  %s\n", count, rule.c_str());
  }
};

/// Whether two ops share bytes where one of them counts as using all of its pool.
bool meet_in_a_pool(const Schedule& schedule, OpId first, OpId second) {
  const auto* one = std::get_if<BlockCopy>(&schedule.ops[first.index()].what);
  const auto* other = std::get_if<BlockCopy>(&schedule.ops[second.index()].what);
  bool meet = false;
  for_each_access(schedule.ops[first.index()], [&](const Region& a, AccessMode mode_a) {
    for_each_access(schedule.ops[second.index()], [&](const Region& b, AccessMode mode_b) {
      if (mode_a == AccessMode::read && mode_b == AccessMode::read) return;
      const bool pool_a = one != nullptr && a == one->pool;
      const bool pool_b = other != nullptr && b == other->pool;
      const bool other_blocks = pool_a && pool_b && one->list == other->list && a == b &&
                                (one->first + one->count <= other->first || other->first + other->count <= one->first);
      if ((!pool_a && !pool_b) || other_blocks || a.buffer != b.buffer) return;
      meet = meet || (a.offset < b.offset + b.length && b.offset < a.offset + a.length);
    });
  });
  return meet;
}

/// Examines schedules and fails the test when `validate`, the simulator or the virtual device is wrong.
class Examiner {
 public:
  void examine(std::uint64_t seed) {
    Draw draw(seed);
    const DrawnSchedule drawn = draw_schedule(draw);
    SCOPED_TRACE(fmt::format("{}; repeat with SHIPLAP_SCHEDULES=1 SHIPLAP_SCHEDULE_SEED={}", drawn.origin, seed));
    examine(drawn.schedule, draw);
  }
  const Tally& tally() const { return tally_; }

 private:
  void examine(const Schedule& schedule, Draw& draw) {
    const std::vector<std::string> found = problems(schedule, 50);
    const std::set<std::string> broken = broken_rules(schedule);
    for (const std::string& problem : found) {
      const std::string rule(rule_of(problem));
      ++tally_.by_rule[rule];
      EXPECT_TRUE(rule == "order" ? broken.empty() : broken.contains(rule)) << problem;
    }
    EXPECT_TRUE(broken.empty() || !found.empty()) << "accepted, although it breaks the rule: " << *broken.begin();
    if (!broken.empty()) return;
    const std::optional<Indices> indices = draw_indices(schedule, draw);
    tally_.without_indices += !indices;
    if (!indices) return;
    if (!found.empty()) return refused(schedule, found, draw);
    accepted(schedule, *indices, draw);
    if (draw.one_in(4)) run_twice(schedule, *indices, draw);
  }

  void run_twice(const Schedule& schedule, const Indices& indices, Draw& draw) {
    const Schedule twice = concatenate(schedule, schedule);
    const std::set<std::string> broken = broken_rules(twice);
    if (broken.contains("allocated once") || broken.contains("pinned once")) return;
    const std::vector<std::string> found = problems(twice);
    EXPECT_TRUE(found.empty()) << "concatenated with itself: " << found.front();
    if (!found.empty()) return;
    ++tally_.concatenated;
    accepted(twice, indices, draw);
  }

  void refused(const Schedule& schedule, const std::vector<std::string>& found, Draw& draw) {
    ++tally_.unordered;
    tally_.by_chance += differs_by_chance(schedule, draw);
    for (const std::string& problem : found) {
      std::uint32_t later = 0;
      std::uint32_t earlier = 0;
      const std::size_t at = problem.find("let op ");
      ASSERT_NE(at, std::string::npos) << problem;
      ASSERT_EQ(std::sscanf(problem.c_str() + at, "let op %u wait for op %u", &later, &earlier), 2) << problem;
      confirm(schedule, OpId{earlier}, OpId{later}, problem, draw);
    }
  }

  /// Whether one of a few random orders gives another result than the order of the schedule.
  static bool differs_by_chance(const Schedule& schedule, Draw& draw) {
    const CellMap map(schedule, *draw_indices(schedule, draw));
    const auto direct = direct_predecessors(schedule);
    ByteMachine in_order(schedule, map, direct);
    in_order.perform_rest();
    for (int tries = 10; tries > 0; --tries) {
      ByteMachine machine(schedule, map, direct);
      machine.perform_all(draw.engine());
      if (machine.outcome() != in_order.outcome()) return true;
    }
    return false;
  }

  /// Finds a witness, with several lists of indices.
  void confirm(const Schedule& schedule, OpId earlier, OpId later, const std::string& problem, Draw& draw) {
    ++tally_.pairs;
    const bool meets_in_a_pool = meet_in_a_pool(schedule, earlier, later);
    Swap swap;
    for (int tries = meets_in_a_pool ? 8 : 1; tries > 0 && !swap.differs; --tries)
      swap = swap_ops(schedule, CellMap(schedule, *draw_indices(schedule, draw)), earlier, later);
    EXPECT_TRUE(swap.is_legal) << "the ops are ordered: " << problem;
    EXPECT_TRUE(swap.differs || meets_in_a_pool) << "no order differs: " << problem;
    tally_.byte_witnesses += swap.bytes_differ;
    tally_.witnesses += swap.differs && !swap.bytes_differ;
    tally_.whole_pools += !swap.differs;
  }

  void accepted(const Schedule& schedule, const Indices& indices, Draw& draw) {
    ++tally_.accepted;
    const CellMap map(schedule, indices);
    const auto direct = direct_predecessors(schedule);
    const auto before = all_predecessors(direct);
    for (std::uint32_t j = 0; j < schedule.ops.size(); ++j)
      for (std::uint32_t i = 0; i < j; ++i)
        EXPECT_TRUE(before[j][i] || !map.conflict(OpId{i}, OpId{j}))
            << "accepted, and nothing orders " << describe(schedule, OpId{i}) << " and " << describe(schedule, OpId{j});
    ByteMachine in_order(schedule, map, direct);
    in_order.perform_rest();
    constexpr int orders = 3;
    for (int k = 0; k < orders; ++k) {
      ByteMachine machine(schedule, map, direct);
      EXPECT_TRUE(machine.perform_all(draw.engine())) << "some op can never start";
      EXPECT_EQ(machine.outcome(), in_order.outcome()) << "accepted, and two legal orders differ";
      ++tally_.orders;
    }
    ByteMachine submitted(schedule, map, direct);
    EXPECT_EQ(SubmissionMachine(schedule, submitted).run(draw.engine()), "");
    EXPECT_EQ(submitted.outcome(), in_order.outcome()) << "the calls that submit the schedule do not keep its order";
    simulate_on_all(schedule);
    simulate_on_all(enlarged(schedule));
    run_on_device(schedule, indices, in_order.outcome().bytes);
  }

  void simulate_on_all(const Schedule& schedule) {
    static const std::vector<Profile> all = profiles();
    for (const Profile& profile : all)
      for (const bool held : {false, true}) {
        if (held && !can_be_held(schedule)) continue;
        try {
          expect_orders_kept(schedule, simulate(schedule, profile, {.held = held}).timeline);
          ++tally_.simulated;
        } catch (const Unsupported&) {
          ++tally_.unsupported;
        } catch (const Error& error) {
          ADD_FAILURE() << "on profile " << profile.name << (held ? ", held: " : ": ") << error.what();
        }
      }
  }

  static void expect_orders_kept(const Schedule& schedule, const Timeline& timeline) {
    const auto direct = direct_predecessors(schedule);
    constexpr Seconds rounding{1e-12};
    ASSERT_EQ(timeline.spans.size(), schedule.ops.size());
    for (std::uint32_t i = 0; i < schedule.ops.size(); ++i) {
      const Span& span = timeline.spans[i];
      // Every comparison with a value that is not a number is false.
      EXPECT_TRUE(span.start >= Seconds{0} && span.end >= span.start && span.end <= timeline.makespan)
          << describe(schedule, OpId{i}) << " runs from " << span.start.count() << " s to " << span.end.count();
      for (const OpId before : direct[i])
        EXPECT_TRUE(timeline.spans[before.index()].end <= span.start + rounding)
            << describe(schedule, OpId{i}) << " starts before the end of " << describe(schedule, before);
    }
  }

  void run_on_device(Schedule schedule, const Indices& indices, const std::vector<std::uint8_t>& expected) {
    static const std::shared_ptr<MeasurableDevice> device = open_virtual(planted_pair(), "virtual:two");
    for (std::uint32_t i = 0; i < schedule.ops.size(); ++i)
      if (auto* kernel = std::get_if<Kernel>(&schedule.ops[i].what)) kernel->first_item = i;
    std::vector<std::byte> memory;
    for (std::size_t b = 0; b < schedule.buffers.size(); ++b)
      for (std::uint64_t at = 0; at < schedule.buffers[b].size.count; ++at)
        memory.push_back(std::byte{initial_byte(b, at)});
    Bindings bindings;
    std::size_t first = 0;
    for (const Buffer& buffer : schedule.buffers) {
      bindings.buffers.push_back(memory.data() + first);
      first += buffer.size.count;
    }
    const KernelFunction kernel = machine_kernel(schedule);
    bindings.kernels.assign(schedule.kernels.size(), KernelBinding{.host = kernel, .cuda = {}});
    bindings.lists.assign(indices.begin(), indices.end());
    try {
      device->prepare(schedule, bindings)->run();
    } catch (const Unsupported&) {
      return;
    } catch (const Error& error) {
      FAIL() << "on the virtual device: " << error.what();
    }
    ++tally_.on_device;
    for (std::size_t cell = 0; cell < memory.size(); ++cell)
      ASSERT_EQ(static_cast<std::uint8_t>(memory[cell]), expected[cell]) << "on the virtual device, at byte " << cell;
  }

  Tally tally_;
};

TEST(ScheduleOrders, what_is_accepted_gives_the_same_bytes_in_every_order_and_what_is_refused_has_a_witness) {
  constexpr std::uint64_t in_every_run = 2500;
  const std::uint64_t count = number_from("SHIPLAP_SCHEDULES", in_every_run);
  const std::uint64_t first = number_from("SHIPLAP_SCHEDULE_SEED", 1);
  constexpr int most_failures = 10;
  Examiner examiner;
  int failures = 0;
  for (std::uint64_t seed = first; seed < first + count && failures < most_failures; ++seed) {
    const auto* result = ::testing::UnitTest::GetInstance()->current_test_info()->result();
    const int parts = result->total_part_count();
    examiner.examine(seed);
    failures += result->total_part_count() > parts;
  }
  const Tally& tally = examiner.tally();
  if (count != in_every_run) return tally.print();
  for (const std::string& rule : all_rules())
    EXPECT_GT(tally.by_rule.count(rule), 0u) << "no schedule was refused because of the rule: " << rule;
  EXPECT_GT(tally.accepted, count / 4);
  EXPECT_GT(tally.unordered, count / 20);
  EXPECT_GT(tally.byte_witnesses, tally.pairs / 3);
  EXPECT_GT(tally.by_chance, tally.unordered / 2) << "random orders would not show a race that validate overlooks";
  EXPECT_GT(tally.on_device, tally.accepted / 2);
}

}  // namespace
}  // namespace shiplap
