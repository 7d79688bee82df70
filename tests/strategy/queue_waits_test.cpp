#include "shiplap/strategy/queue_waits.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace shiplap {
namespace {

class QueueWaitsTest : public ::testing::Test {
 protected:
  Op op_in(QueueId queue) const { return {.what = HostCall{}, .queue = queue, .agent = AgentId{0}, .after = {}}; }
  /// Adds an op to the queue that waits for these ops.
  OpId add(QueueId queue, const std::vector<OpId>& on = {}) {
    Op op = op_in(queue);
    for (const OpId other : on) waits_.add(op, other);
    return schedule_.add(op);
  }
  const std::vector<OpId>& after(OpId op) const { return schedule_.ops[op.index()].after; }

  Schedule schedule_;
  QueueId a_ = schedule_.add_queue("a");
  QueueId b_ = schedule_.add_queue("b");
  QueueId c_ = schedule_.add_queue("c");
  QueueWaits waits_{schedule_};
};

TEST_F(QueueWaitsTest, leave_out_what_the_order_of_a_queue_implies) {
  const OpId first = add(a_);
  const OpId second = add(a_, {first});
  EXPECT_TRUE(after(second).empty());
  const OpId other = add(b_, {first, OpId{}, second});
  EXPECT_EQ(after(other), std::vector{second}) << "the later op of a queue stands for the earlier one";
  EXPECT_TRUE(after(add(b_, {first})).empty()) << "the queue has waited for a later op already";
}

TEST_F(QueueWaitsTest, are_kept_apart_by_both_queues) {
  const OpId in_a = add(a_);
  const OpId in_b = add(b_, {in_a});
  EXPECT_EQ(after(add(c_, {in_a, in_b})), (std::vector{in_a, in_b})) << "that b waited for a is not known to c";
}

TEST_F(QueueWaitsTest, move_to_the_first_of_several_ops) {
  const OpId one = add(a_);
  const OpId two = add(a_);
  const OpId three = add(b_);
  Op first = op_in(c_);
  Op second = op_in(c_);
  first.after = {one};
  second.after = {two, three};
  waits_.move(second, first);
  EXPECT_EQ(first.after, (std::vector{two, three}));
  EXPECT_TRUE(second.after.empty());
}

}  // namespace
}  // namespace shiplap
