#include "shiplap/strategy/stream_waits.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace shiplap {
namespace {

class StreamWaitsTest : public ::testing::Test {
 protected:
  Op op_in(StreamId stream) const { return {.what = HostCall{}, .stream = stream, .agent = AgentId{0}, .after = {}}; }
  /// Adds an op to the stream that waits for these ops.
  OpId add(StreamId stream, const std::vector<OpId>& on = {}) {
    Op op = op_in(stream);
    for (const OpId other : on) waits_.add(op, other);
    return schedule_.add(op);
  }
  const std::vector<OpId>& after(OpId op) const { return schedule_.ops[op.index()].after; }

  Schedule schedule_;
  StreamId a_ = schedule_.add_stream("a");
  StreamId b_ = schedule_.add_stream("b");
  StreamId c_ = schedule_.add_stream("c");
  StreamWaits waits_{schedule_};
};

TEST_F(StreamWaitsTest, leave_out_what_the_order_of_a_stream_implies) {
  const OpId first = add(a_);
  const OpId second = add(a_, {first});
  EXPECT_TRUE(after(second).empty());
  const OpId other = add(b_, {first, OpId{}, second});
  EXPECT_EQ(after(other), std::vector{second}) << "the later op of a stream stands for the earlier one";
  EXPECT_TRUE(after(add(b_, {first})).empty()) << "the stream has waited for a later op already";
}

TEST_F(StreamWaitsTest, are_kept_apart_by_both_streams) {
  const OpId in_a = add(a_);
  const OpId in_b = add(b_, {in_a});
  EXPECT_EQ(after(add(c_, {in_a, in_b})), (std::vector{in_a, in_b})) << "that b waited for a is not known to c";
}

TEST_F(StreamWaitsTest, move_to_the_first_of_several_ops) {
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
