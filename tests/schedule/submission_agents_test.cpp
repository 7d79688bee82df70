// Submission by several agents, and of what agents perform themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <random>

#include "shiplap/schedule/submission.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "tests/schedule/builder.hpp"
#include "tests/schedule/calls.hpp"
#include "tests/support/jobs.hpp"

namespace shiplap {
namespace {

using namespace testing_schedules;

// Two agents and queues a, b and c. Ops that reach no memory, or memory that no other op reaches: what orders them is
// what the test says.
struct Team : Builder {
  QueueId a = schedule.add_queue("a");
  QueueId b = schedule.add_queue("b");
  QueueId c = schedule.add_queue("c");
  Team() {
    schedule.agents = {{"main"}, {"worker"}};
    schedule.add_kernel("k");
  }
  OpId on(QueueId queue, AgentId agent, std::vector<OpId> after = {}) {
    const OpId id = kernel(queue, {}, std::move(after));
    schedule.ops.back().agent = agent;
    return id;
  }
  OpId by_host(AgentId agent, std::vector<OpId> after = {}) {
    const BufferId from = host("from", 8_B);
    const BufferId to = host("to", 8_B);
    return host_copy(agent, {from, 0_B, 8_B}, {to, 0_B, 8_B}, std::move(after));
  }
};

TEST(SubmissionByAgents, awaits_another_agents_op_before_it_waits_for_the_event_behind_it) {
  Team team;
  const OpId first = team.on(team.a, main_agent);
  team.on(team.b, worker, {first});
  EXPECT_EQ(calls(team, main_agent), "submit 0, record 0");
  EXPECT_EQ(calls(team, worker), "await 0, wait 0, submit 1, finish 1");
}

TEST(SubmissionByAgents, an_event_that_is_waited_for_is_the_one_that_was_recorded_behind_the_op) {
  Team team;
  const OpId first = team.on(team.a, main_agent);
  const OpId second = team.on(team.b, main_agent);
  team.on(team.c, worker, {first, second});
  const Submission program = submission(team.schedule);
  std::map<std::uint32_t, EventId> recorded;
  for (const Step& step : program.agents[0])
    if (step.kind == Step::Kind::record) recorded[step.op.value] = step.event;
  ASSERT_EQ(recorded.size(), 2u);
  EXPECT_NE(recorded[0], recorded[1]);
  int waits = 0;
  for (const Step& step : program.agents[1])
    if (step.kind == Step::Kind::wait) {
      EXPECT_EQ(step.event, recorded[step.awaited.value]);
      ++waits;
    }
  EXPECT_EQ(waits, 2);
  EXPECT_EQ(program.events, 2u);
}

TEST(SubmissionByAgents, a_host_copy_that_depends_on_a_queues_op_synchronizes_with_the_event_behind_it) {
  Team team;
  const OpId kernel = team.on(team.a, main_agent);
  team.by_host(main_agent, {kernel});
  // Only a host thread waits for the end of queue a, so it gets an end mark all the same.
  EXPECT_EQ(calls(team, main_agent), "submit 0, record 0, finish 0, synchronize 0, submit 1");
}

TEST(SubmissionByAgents, a_host_call_that_depends_on_another_agents_op_awaits_it_and_then_synchronizes) {
  Team team;
  const OpId kernel = team.on(team.a, main_agent);
  const BufferId x = team.host("x", 8_B);
  team.add(HostCall{.kind = HostCall::Kind::flush, .region = {x, 0_B, 8_B}}, {}, {kernel}, 0);
  team.schedule.ops.back().agent = worker;
  EXPECT_EQ(calls(team, main_agent), "submit 0, record 0, finish 0");
  EXPECT_EQ(calls(team, worker), "await 0, synchronize 0, submit 1");
}

TEST(SubmissionByAgents, a_queues_last_op_that_another_queue_waits_for_too_gets_no_end_mark) {
  Team team;
  const OpId kernel = team.on(team.a, main_agent);
  team.by_host(main_agent, {kernel});
  team.on(team.b, main_agent, {kernel});
  EXPECT_EQ(calls(team, main_agent), "submit 0, record 0, synchronize 0, submit 1, wait 0, submit 2, finish 2");
}

TEST(SubmissionByAgents, a_host_op_has_ended_when_the_same_agent_submits_what_depends_on_it) {
  Team team;
  const OpId copy = team.by_host(main_agent);
  team.on(team.a, main_agent, {copy});
  EXPECT_EQ(calls(team, main_agent), "submit 0, submit 1, finish 1");
  EXPECT_EQ(submission(team.schedule).events, 0u);
}

TEST(SubmissionByAgents, another_agents_host_op_is_awaited_and_has_no_event) {
  Team team;
  const OpId copy = team.by_host(worker);
  team.on(team.a, main_agent, {copy});
  EXPECT_EQ(calls(team, main_agent), "await 0, submit 1, finish 1");
  EXPECT_EQ(calls(team, worker), "submit 0");
}

TEST(SubmissionByAgents, a_host_op_awaits_the_host_op_of_another_agent_that_it_depends_on) {
  Team team;
  const OpId copy = team.by_host(main_agent);
  team.by_host(worker, {copy});
  EXPECT_EQ(calls(team, worker), "await 0, submit 1");
}

TEST(SubmissionByAgents, a_queue_gets_its_ops_in_order_from_two_agents_without_any_dependency) {
  Team team;
  team.on(team.a, main_agent);
  team.on(team.a, worker);
  team.on(team.a, main_agent);
  EXPECT_EQ(calls(team, main_agent), "submit 0, await 1, submit 2, finish 2");
  EXPECT_EQ(calls(team, worker), "await 0, submit 1");
}

TEST(SubmissionByAgents, an_op_of_its_own_queue_by_another_agent_is_awaited_but_has_no_event) {
  Team team;
  const OpId first = team.on(team.a, main_agent);
  team.on(team.a, worker, {first});
  EXPECT_EQ(calls(team, worker), "await 0, submit 1, finish 1");
  EXPECT_EQ(submission(team.schedule).events, 0u);
}

TEST(SubmissionByAgents, nothing_is_awaited_twice_and_an_earlier_op_not_after_a_later_one) {
  Team team;
  const OpId first = team.on(team.a, main_agent);
  const OpId second = team.on(team.a, main_agent);
  team.on(team.b, worker, {second});
  team.on(team.b, worker, {second});
  team.on(team.c, worker, {first});  // another queue has to wait for itself
  EXPECT_EQ(calls(team, main_agent), "submit 0, record 0, submit 1, record 1");
  EXPECT_EQ(calls(team, worker), "await 1, wait 1, submit 2, submit 3, finish 3, wait 0, submit 4, finish 4");
}

TEST(SubmissionByAgents, of_several_ops_of_one_agent_the_latest_is_awaited) {
  Team team;
  const OpId first = team.on(team.a, main_agent);
  const OpId second = team.on(team.b, main_agent);
  team.on(team.c, worker, {first, second});
  EXPECT_EQ(calls(team, worker), "await 1, wait 1, wait 0, submit 2, finish 2");
}

TEST(SubmissionByAgents, an_agent_that_knows_the_end_of_an_op_knows_that_of_the_ops_before_it_in_its_queue) {
  Team team;
  const OpId first = team.on(team.a, main_agent);
  const OpId second = team.on(team.a, main_agent);
  team.by_host(main_agent, {second});
  team.by_host(main_agent, {first});
  EXPECT_EQ(calls(team, main_agent), "submit 0, submit 1, record 1, finish 1, synchronize 1, submit 2, submit 3");
}

TEST(SubmissionByAgents, each_agent_synchronizes_for_itself) {
  Team team;
  const OpId kernel = team.on(team.a, main_agent);
  team.by_host(main_agent, {kernel});
  team.by_host(worker, {kernel});
  EXPECT_EQ(calls(team, main_agent), "submit 0, record 0, finish 0, synchronize 0, submit 1");
  EXPECT_EQ(calls(team, worker), "await 0, synchronize 0, submit 2");
}

TEST(SubmissionByAgents, a_single_agent_without_host_ops_neither_awaits_nor_synchronizes) {
  const Job job = in_out_job(1_MiB, 1_MiB, milliseconds(1), 1024);
  for (const Layout layout : {Layout::per_chunk, Layout::three}) {
    const Submission program = submission(find_strategy("streams").schedule(
        job, {.chunks = 8, .layout = layout, .ring = layout == Layout::three ? 2u : 0u}, {.device_memory = 1_GiB}));
    ASSERT_EQ(program.agents.size(), 1u);
    std::size_t submitted = 0;
    for (const Step& step : program.agents[0]) {
      EXPECT_NE(step.kind, Step::Kind::await);
      EXPECT_NE(step.kind, Step::Kind::synchronize);
      submitted += step.kind == Step::Kind::submit;
    }
    EXPECT_EQ(submitted, 24u);
  }
}

// From here on: programs executed step by step, whatever comes first.

// Performs the steps of all agents and what their queues hold in a random order. As with CUDA, an event that is not
// recorded yet holds nobody back.
class Interpreter {
 public:
  Interpreter(const Schedule& schedule, const Submission& program, std::uint64_t seed)
      : schedule_(schedule),
        program_(program),
        random_(seed),
        agents_(program.agents.size()),
        queues_(schedule.queues.size()),
        state_(schedule.ops.size(), State::fresh),
        recorded_(program.events, false),
        reached_(program.events, false),
        last_step_(schedule.ops.size(), 0) {
    for (const auto& steps : program.agents)
      for (std::size_t i = 0; i < steps.size(); ++i) {
        last_step_[steps[i].op.index()] = i;
        marks_ += steps[i].kind == Step::Kind::finish;
      }
    // Some agents and queues are much slower than others.
    for (std::size_t i = 0; i < agents_.size() + queues_.size(); ++i) weights_.push_back(std::pow(16.0, random_() % 3));
  }

  // What went wrong; empty when nothing did.
  std::string run() {
    for (;;) {
      std::vector<std::size_t> able;
      std::vector<double> weights;
      for (std::size_t i = 0; i < weights_.size(); ++i)
        if (i < agents_.size() ? agent_is_able(i) : queue_is_able(i - agents_.size())) {
          able.push_back(i);
          weights.push_back(weights_[i]);
        }
      if (able.empty()) break;
      const std::size_t one = able[std::discrete_distribution<std::size_t>(weights.begin(), weights.end())(random_)];
      if (one < agents_.size())
        advance_agent(one);
      else
        advance_queue(one - agents_.size());
      if (!problem_.empty()) return problem_;
      if (all_returned() && marks_reached_ == marks_ && !all_ended())
        return "all agents returned and all end marks were reached, but not all ops have ended";
    }
    if (!all_returned()) return "the agents wait for each other";
    return all_ended() ? "" : "not all ops have ended";
  }

 private:
  enum class State : std::uint8_t { fresh, submitted, started, ended };
  struct Item {
    Step::Kind kind;
    OpId op;
    EventId event;
  };
  struct Agent {
    std::size_t next = 0;
  };

  bool all_returned() const {
    for (std::size_t a = 0; a < agents_.size(); ++a)
      if (agents_[a].next < program_.agents[a].size()) return false;
    return true;
  }
  bool all_ended() const {
    return std::ranges::all_of(state_, [](State state) { return state == State::ended; });
  }

  bool agent_is_able(std::size_t a) const {
    if (agents_[a].next >= program_.agents[a].size()) return false;
    const Step& step = program_.agents[a][agents_[a].next];
    if (step.kind == Step::Kind::await) {
      const std::size_t other = schedule_.ops[step.awaited.index()].agent.index();
      return agents_[other].next > last_step_[step.awaited.index()];
    }
    if (step.kind == Step::Kind::synchronize) return !recorded_[step.event.index()] || reached_[step.event.index()];
    // In the call that submits a blocking copy it can go on only when that has ended.
    return step.kind != Step::Kind::submit || step.queue.is_none() || state_[step.op.index()] == State::fresh ||
           state_[step.op.index()] == State::ended;
  }

  void advance_agent(std::size_t a) {
    const Step& step = program_.agents[a][agents_[a].next];
    State& state = state_[step.op.index()];
    if (step.kind == Step::Kind::submit && step.queue.is_none()) {
      if (state == State::fresh) return start(step.op);
      state = State::ended;
    } else if (step.kind == Step::Kind::submit && state == State::fresh) {
      state = State::submitted;
      queues_[step.queue.index()].push_back({step.kind, step.op, {}});
      if (blocks_agent(schedule_, schedule_.ops[step.op.index()])) return;
    } else if (step.kind == Step::Kind::wait) {
      if (recorded_[step.event.index()]) queues_[step.queue.index()].push_back({step.kind, {}, step.event});
    } else if (step.kind == Step::Kind::record) {
      recorded_[step.event.index()] = true;
      queues_[step.queue.index()].push_back({step.kind, {}, step.event});
    } else if (step.kind == Step::Kind::finish) {
      queues_[step.queue.index()].push_back({step.kind, {}, {}});
    }
    ++agents_[a].next;
  }

  bool queue_is_able(std::size_t q) const {
    if (queues_[q].empty()) return false;
    const Item& item = queues_[q].front();
    return item.kind != Step::Kind::wait || reached_[item.event.index()];
  }

  void advance_queue(std::size_t q) {
    const Item item = queues_[q].front();
    if (item.kind == Step::Kind::submit) {
      if (state_[item.op.index()] == State::submitted) return start(item.op);
      state_[item.op.index()] = State::ended;
    } else if (item.kind == Step::Kind::record) {
      reached_[item.event.index()] = true;
    } else if (item.kind == Step::Kind::finish) {
      ++marks_reached_;
    }
    queues_[q].pop_front();
  }

  // Everything that the schedule puts before an op must have ended when it starts.
  void start(OpId id) {
    const Op& op = schedule_.ops[id.index()];
    const auto require = [&](std::uint32_t before, const char* why) {
      if (state_[before] != State::ended && problem_.empty())
        problem_ = "op " + std::to_string(id.value) + " started before the end of op " + std::to_string(before) +
                   ", which comes before it by " + why;
    };
    for (const OpId before : op.after) require(before.value, "a dependency");
    for (std::uint32_t i = 0; i < id.value; ++i) {
      const Op& other = schedule_.ops[i];
      if (!op.queue.is_none() && other.queue == op.queue) require(i, "their queue");
      if (op.queue.is_none() && other.queue.is_none() && other.agent == op.agent) require(i, "their agent");
    }
    state_[id.index()] = State::started;
  }

  const Schedule& schedule_;
  const Submission& program_;
  std::mt19937_64 random_;
  std::vector<double> weights_;  // agents, then queues
  std::vector<Agent> agents_;
  std::vector<std::deque<Item>> queues_;
  std::vector<State> state_;
  std::vector<bool> recorded_;
  std::vector<bool> reached_;
  std::vector<std::size_t> last_step_;
  std::size_t marks_ = 0;
  std::size_t marks_reached_ = 0;
  std::string problem_;
};

// No two ops reach the same memory, so that every order is allowed that queues, agents and dependencies leave.
Schedule random_schedule(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
  Team team;
  team.schedule.agents.resize(1 + below(4), {"agent"});
  team.schedule.queues.resize(1 + below(4), {"queue"});
  const std::uint32_t ops = 2 + below(14);
  const std::uint32_t host_share = below(3);
  for (std::uint32_t i = 0; i < ops; ++i) {
    std::vector<OpId> after;
    for (std::uint32_t k = 0; k < i; ++k)
      if (below(5) == 0) after.push_back(OpId{k});
    std::shuffle(after.begin(), after.end(), random);
    const AgentId agent{below(team.schedule.agents.size())};
    const QueueId queue{below(team.schedule.queues.size())};
    if (below(4) < host_share) {
      team.by_host(agent, std::move(after));
    } else if (below(4) == 0) {
      const BufferId from = team.schedule.add_buffer(buffer("pageable", Place::host(), MemoryKind::pageable, 8_B));
      const BufferId to = team.device("to", 8_B);
      team.copy(queue, {from, 0_B, 8_B}, {to, 0_B, 8_B}, std::move(after));
      team.schedule.ops.back().agent = agent;
    } else {
      team.on(queue, agent, std::move(after));
    }
  }
  return team.schedule;
}

TEST(SubmissionByAgents, keeps_every_order_and_never_stops_however_agents_and_queues_are_interleaved) {
  std::mt19937_64 random(20240611);
  for (int i = 0; i < 1500; ++i) {
    const Schedule schedule = random_schedule(random);
    ASSERT_EQ(joined(problems(schedule)), "") << "schedule " << i;
    const Submission program = submission(schedule);
    for (int k = 0; k < 12; ++k) {
      const std::uint64_t seed = random();
      ASSERT_EQ(Interpreter(schedule, program, seed).run(), "") << "schedule " << i << ", seed " << seed;
    }
  }
}

// The test above could pass because nothing is ever noticed. So each kind of step is left out, one at a time.
TEST(SubmissionByAgents, every_kind_of_step_is_there_because_without_it_an_order_can_break) {
  std::mt19937_64 random(6112024);
  for (const Step::Kind kind :
       {Step::Kind::await, Step::Kind::synchronize, Step::Kind::wait, Step::Kind::record, Step::Kind::finish}) {
    int left_out = 0;
    int noticed = 0;
    while (left_out < 150) {
      const Schedule schedule = random_schedule(random);
      Submission program = submission(schedule);
      std::vector<std::pair<std::size_t, std::size_t>> found;
      for (std::size_t a = 0; a < program.agents.size(); ++a)
        for (std::size_t s = 0; s < program.agents[a].size(); ++s)
          if (program.agents[a][s].kind == kind) found.emplace_back(a, s);
      if (found.empty()) continue;
      const auto [agent, step] = found[random() % found.size()];
      auto& steps = program.agents[agent];
      steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(step));
      ++left_out;
      bool broke = false;
      for (int k = 0; k < 40 && !broke; ++k) broke = !Interpreter(schedule, program, random()).run().empty();
      noticed += broke;
    }
    // Not all: an order can be there twice, by way of a third op or of a copy that blocks its agent.
    EXPECT_GT(noticed, left_out / 10) << "kind of step " << static_cast<int>(kind);
  }
}

TEST(SubmissionByAgents,
     all_steps_of_an_op_stand_next_to_each_other_and_those_of_an_agent_in_the_order_of_the_schedule) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 500; ++i) {
    const Schedule schedule = random_schedule(random);
    const Submission program = submission(schedule);
    std::vector<int> submitted(schedule.ops.size(), 0);
    for (std::size_t a = 0; a < program.agents.size(); ++a) {
      std::uint32_t last = 0;
      for (const Step& step : program.agents[a]) {
        ASSERT_EQ(schedule.ops[step.op.index()].agent.index(), a);
        ASSERT_GE(step.op.value, last);
        last = step.op.value;
        submitted[step.op.index()] += step.kind == Step::Kind::submit;
      }
    }
    for (const int times : submitted) ASSERT_EQ(times, 1);
  }
}

TEST(SubmissionByAgents, never_awaits_what_the_agent_has_awaited_or_does_itself) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 1500; ++i) {
    const Schedule schedule = random_schedule(random);
    const Submission program = submission(schedule);
    for (std::size_t a = 0; a < program.agents.size(); ++a) {
      std::map<std::uint32_t, OpId> latest;  // by agent
      for (const Step& step : program.agents[a]) {
        if (step.kind != Step::Kind::await) continue;
        const AgentId other = schedule.ops[step.awaited.index()].agent;
        ASSERT_NE(other.index(), a);
        const auto [seen, first] = latest.try_emplace(other.value, step.awaited);
        ASSERT_TRUE(first || seen->second < step.awaited) << "schedule " << i << ", op " << step.op.value;
        seen->second = step.awaited;
      }
    }
  }
}

}  // namespace
}  // namespace shiplap
