#include "shiplap/device/host_agents.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace shiplap {
namespace {

using Clock = std::chrono::steady_clock;

// Whether `ready` becomes true before a limit that is only there to fail instead of hanging.
template <class Ready>
bool wait_for(const Ready& ready) {
  const Clock::time_point limit = Clock::now() + std::chrono::seconds(30);
  while (!ready()) {
    if (Clock::now() > limit) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST(HostAgents, all_run_once_in_every_run) {
  for (const std::size_t count : {1u, 2u, 3u, 8u}) {
    HostAgents agents(count);
    ASSERT_EQ(agents.count(), count);
    std::vector<std::atomic<int>> calls(count);
    for (int run = 1; run <= 200; ++run) {
      agents.run([&](std::size_t agent) { ++calls.at(agent); });
      for (std::size_t a = 0; a < count; ++a) ASSERT_EQ(calls[a], run) << "agent " << a << " of " << count;
    }
  }
}

TEST(HostAgents, see_that_one_of_them_or_the_caller_has_failed) {
  HostAgents agents(3);
  const auto all_see_it = [&](std::size_t agent) {
    if (agent == 1) throw std::runtime_error("one");
    EXPECT_TRUE(wait_for([&] { return agents.has_failed(); }));
  };
  EXPECT_THROW(agents.run(all_see_it), std::runtime_error);
  const auto others_see_it = [&](std::size_t agent) {
    if (agent == 0) return;
    EXPECT_TRUE(wait_for([&] { return agents.has_failed(); }));
  };
  EXPECT_THROW(agents.run(others_see_it, {}, [] { throw std::logic_error("the caller was interrupted"); }),
               std::logic_error);
  agents.run([&](std::size_t) { EXPECT_FALSE(agents.has_failed()); });
}

TEST(HostAgents, run_at_the_same_time) {
  for (const std::size_t count : {2u, 5u}) {
    HostAgents agents(count);
    for (int run = 0; run < 20; ++run) {
      std::atomic<std::size_t> here{0};
      std::atomic<std::size_t> met{0};
      agents.run([&](std::size_t) {
        ++here;
        if (wait_for([&] { return here == count; })) ++met;
      });
      ASSERT_EQ(met, count);
    }
  }
}

TEST(HostAgents, have_a_thread_each_that_is_the_same_in_every_run_and_the_callers_for_the_first) {
  constexpr std::size_t count = 4;
  HostAgents agents(count);
  std::vector<std::thread::id> first(count);
  std::vector<std::thread::id> second(count);
  agents.run([&](std::size_t agent) { first[agent] = std::this_thread::get_id(); });
  agents.run([&](std::size_t agent) { second[agent] = std::this_thread::get_id(); });
  EXPECT_EQ(first, second);
  EXPECT_EQ(first[0], std::this_thread::get_id());
  EXPECT_EQ(std::set<std::thread::id>(first.begin(), first.end()).size(), count);
}

TEST(HostAgents, begin_at_the_time_that_is_returned_or_later) {
  constexpr std::size_t count = 3;
  HostAgents agents(count);
  for (int run = 0; run < 50; ++run) {
    std::vector<Clock::time_point> began(count);
    const Clock::time_point before = Clock::now();
    const Clock::time_point start = agents.run([&](std::size_t agent) { began[agent] = Clock::now(); });
    EXPECT_GE(start, before);
    for (const Clock::time_point begin : began) EXPECT_GE(begin, start);
  }
}

TEST(HostAgents, have_all_ended_when_a_run_returns) {
  constexpr std::size_t count = 3;
  HostAgents agents(count);
  for (std::size_t slow = 0; slow < count; ++slow) {
    std::atomic<int> ended{0};
    agents.run([&](std::size_t agent) {
      if (agent == slow) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++ended;
    });
    EXPECT_EQ(ended, 3) << "agent " << slow << " is slow";
  }
}

// What a run throws.
std::string thrown(HostAgents& agents, const std::function<void(std::size_t)>& work) {
  try {
    agents.run(work);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(HostAgents, throw_what_one_of_them_throws_when_the_others_have_seen_that_it_ended) {
  constexpr std::size_t count = 3;
  HostAgents agents(count);
  for (std::size_t bad = 0; bad < count; ++bad) {
    std::atomic<std::size_t> saw{0};
    const std::string text = thrown(agents, [&](std::size_t agent) {
      if (agent == bad) throw std::runtime_error("agent " + std::to_string(agent));
      if (wait_for([&] { return agents.has_ended(bad); })) ++saw;
    });
    EXPECT_EQ(text, "agent " + std::to_string(bad));
    EXPECT_EQ(saw, count - 1);
  }
}

TEST(HostAgents, throw_the_first_of_several_exceptions) {
  constexpr std::size_t count = 3;
  HostAgents agents(count);
  for (std::size_t bad = 0; bad < count; ++bad) {
    const std::string text = thrown(agents, [&](std::size_t agent) {
      if (agent != bad && !wait_for([&] { return agents.has_ended(bad); })) return;
      throw std::runtime_error(agent == bad ? "first" : "later");
    });
    EXPECT_EQ(text, "first");
  }
}

TEST(HostAgents, run_again_after_an_exception_as_if_nothing_had_been) {
  constexpr std::size_t count = 3;
  HostAgents agents(count);
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(thrown(agents, [](std::size_t) { throw std::runtime_error("each of them"); }), "each of them");
    std::atomic<int> calls{0};
    std::atomic<int> ended{0};
    EXPECT_EQ(thrown(agents,
                     [&](std::size_t agent) {
                       ended += agents.has_ended(agent);
                       ++calls;
                     }),
              "nothing");
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(ended, 0);
  }
}

TEST(HostAgents, of_which_there_is_one_run_on_the_callers_thread) {
  HostAgents agents(1);
  EXPECT_EQ(agents.count(), 1u);
  std::thread::id where;
  std::size_t which = 99;
  agents.run([&](std::size_t agent) {
    where = std::this_thread::get_id();
    which = agent;
  });
  EXPECT_EQ(where, std::this_thread::get_id());
  EXPECT_EQ(which, 0u);
  EXPECT_EQ(thrown(agents, [](std::size_t) { throw std::runtime_error("alone"); }), "alone");
  EXPECT_TRUE(agents.has_ended(0));
  EXPECT_EQ(thrown(agents, [](std::size_t) {}), "nothing");
}

TEST(HostAgents, end_when_they_never_ran_and_right_after_a_run) {
  std::atomic<int> calls{0};
  for (int round = 0; round < 50; ++round) {
    const HostAgents idle(4);
    HostAgents busy(4);
    busy.run([&](std::size_t) { ++calls; });
  }
  EXPECT_EQ(calls, 200);
}

TEST(HostAgents, sleep_between_runs) {
  HostAgents agents(3);
  agents.run([](std::size_t) {});
  // Of this process only, so that a busy machine changes nothing. Two threads that spin would use 200 ms, or what the
  // machine gives them of it.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const double used = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  EXPECT_LT(used, 0.1);
}

TEST(HostAgents, begin_in_their_own_threads_before_the_first_run) {
  std::vector<std::thread::id> threads(3);
  HostAgents agents(3, [&](std::size_t agent) { threads.at(agent) = std::this_thread::get_id(); });
  std::vector<std::thread::id> at_work(3);
  agents.run([&](std::size_t agent) { at_work.at(agent) = std::this_thread::get_id(); });
  EXPECT_EQ(threads[0], std::thread::id()) << "the first is the caller's, who begins for itself";
  EXPECT_EQ(threads[1], at_work[1]);
  EXPECT_EQ(threads[2], at_work[2]);
}

TEST(HostAgents, cannot_be_had_where_one_cannot_begin) {
  const auto begin = [](std::size_t agent) {
    if (agent == 2) throw std::runtime_error("no GPU for this thread");
  };
  EXPECT_THROW(HostAgents(4, begin), std::runtime_error);
}

}  // namespace
}  // namespace shiplap
