// Submission programs executed step by step, with agents and streams interleaved at random: every order holds, and each
// kind of step is needed for it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <random>

#include "shiplap/schedule/submission.hpp"
#include "shiplap/strategy/strategy.hpp"
#include "tests/schedule/team.hpp"
#include "tests/support/jobs.hpp"

namespace shiplap {
namespace {

using namespace testing_schedules;

// Performs the steps of all agents and what their streams hold in a random order. As with CUDA, an event that is not
// recorded yet holds nobody back.
class Interpreter {
 public:
  Interpreter(const Schedule& schedule, const Submission& program, std::uint64_t seed)
      : schedule_(schedule),
        program_(program),
        random_(seed),
        agents_(program.agents.size()),
        streams_(schedule.streams.size()),
        state_(schedule.ops.size(), State::fresh),
        recorded_(program.events, false),
        reached_(program.events, false),
        last_step_(schedule.ops.size(), 0) {
    for (const auto& steps : program.agents)
      for (std::size_t i = 0; i < steps.size(); ++i) {
        last_step_[steps[i].op.index()] = i;
        marks_ += steps[i].kind == SubmissionStep::Kind::finish;
      }
    // Some agents and streams are much slower than others.
    for (std::size_t i = 0; i < agents_.size() + streams_.size(); ++i)
      weights_.push_back(std::pow(16.0, random_() % 3));
  }

  // What went wrong; empty when nothing did.
  std::string run() {
    for (;;) {
      std::vector<std::size_t> able;
      std::vector<double> weights;
      for (std::size_t i = 0; i < weights_.size(); ++i)
        if (i < agents_.size() ? agent_is_able(i) : stream_is_able(i - agents_.size())) {
          able.push_back(i);
          weights.push_back(weights_[i]);
        }
      if (able.empty()) break;
      const std::size_t one = able[std::discrete_distribution<std::size_t>(weights.begin(), weights.end())(random_)];
      if (one < agents_.size())
        advance_agent(one);
      else
        advance_stream(one - agents_.size());
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
    SubmissionStep::Kind kind;
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
    const SubmissionStep& step = program_.agents[a][agents_[a].next];
    if (step.kind == SubmissionStep::Kind::await) {
      const std::size_t other = schedule_.ops[step.awaited.index()].agent.index();
      return agents_[other].next > last_step_[step.awaited.index()];
    }
    if (step.kind == SubmissionStep::Kind::synchronize)
      return !recorded_[step.event.index()] || reached_[step.event.index()];
    // In the call that submits a blocking copy it can go on only when that has ended.
    return step.kind != SubmissionStep::Kind::submit || step.stream.is_none() ||
           state_[step.op.index()] == State::fresh || state_[step.op.index()] == State::ended;
  }

  void advance_agent(std::size_t a) {
    const SubmissionStep& step = program_.agents[a][agents_[a].next];
    State& state = state_[step.op.index()];
    if (step.kind == SubmissionStep::Kind::submit && step.stream.is_none()) {
      if (state == State::fresh) return start(step.op);
      state = State::ended;
    } else if (step.kind == SubmissionStep::Kind::submit && state == State::fresh) {
      state = State::submitted;
      streams_[step.stream.index()].push_back({step.kind, step.op, {}});
      if (blocks_agent(schedule_, schedule_.ops[step.op.index()])) return;
    } else if (step.kind == SubmissionStep::Kind::wait) {
      if (recorded_[step.event.index()]) streams_[step.stream.index()].push_back({step.kind, {}, step.event});
    } else if (step.kind == SubmissionStep::Kind::record) {
      recorded_[step.event.index()] = true;
      streams_[step.stream.index()].push_back({step.kind, {}, step.event});
    } else if (step.kind == SubmissionStep::Kind::finish) {
      streams_[step.stream.index()].push_back({step.kind, {}, {}});
    }
    ++agents_[a].next;
  }

  bool stream_is_able(std::size_t q) const {
    if (streams_[q].empty()) return false;
    const Item& item = streams_[q].front();
    return item.kind != SubmissionStep::Kind::wait || reached_[item.event.index()];
  }

  void advance_stream(std::size_t q) {
    const Item item = streams_[q].front();
    if (item.kind == SubmissionStep::Kind::submit) {
      if (state_[item.op.index()] == State::submitted) return start(item.op);
      state_[item.op.index()] = State::ended;
    } else if (item.kind == SubmissionStep::Kind::record) {
      reached_[item.event.index()] = true;
    } else if (item.kind == SubmissionStep::Kind::finish) {
      ++marks_reached_;
    }
    streams_[q].pop_front();
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
      if (!op.stream.is_none() && other.stream == op.stream) require(i, "their stream");
      if (op.stream.is_none() && other.stream.is_none() && other.agent == op.agent) require(i, "their agent");
    }
    state_[id.index()] = State::started;
  }

  const Schedule& schedule_;
  const Submission& program_;
  std::mt19937_64 random_;
  std::vector<double> weights_;  // agents, then streams
  std::vector<Agent> agents_;
  std::vector<std::deque<Item>> streams_;
  std::vector<State> state_;
  std::vector<bool> recorded_;
  std::vector<bool> reached_;
  std::vector<std::size_t> last_step_;
  std::size_t marks_ = 0;
  std::size_t marks_reached_ = 0;
  std::string problem_;
};

// No two ops reach the same memory, so that every order is allowed that streams, agents and dependencies leave.
Schedule random_schedule(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
  Team team;
  team.schedule.agents.resize(1 + below(4), {"agent"});
  team.schedule.streams.resize(1 + below(4), {"stream"});
  const std::uint32_t ops = 2 + below(14);
  const std::uint32_t host_share = below(3);
  for (std::uint32_t i = 0; i < ops; ++i) {
    std::vector<OpId> after;
    for (std::uint32_t k = 0; k < i; ++k)
      if (below(5) == 0) after.push_back(OpId{k});
    std::shuffle(after.begin(), after.end(), random);
    const AgentId agent{below(team.schedule.agents.size())};
    const StreamId stream{below(team.schedule.streams.size())};
    if (below(4) < host_share) {
      team.by_host(agent, std::move(after));
    } else if (below(4) == 0) {
      const BufferId from = team.schedule.add_buffer(buffer("pageable", Place::host(), MemoryKind::pageable, 8_B));
      const BufferId to = team.device("to", 8_B);
      team.copy(stream, {from, 0_B, 8_B}, {to, 0_B, 8_B}, std::move(after));
      team.schedule.ops.back().agent = agent;
    } else {
      team.on(stream, agent, std::move(after));
    }
  }
  return team.schedule;
}

TEST(SubmissionByAgents, keeps_every_order_and_never_stops_however_agents_and_streams_are_interleaved) {
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
  for (const SubmissionStep::Kind kind :
       {SubmissionStep::Kind::await, SubmissionStep::Kind::synchronize, SubmissionStep::Kind::wait,
        SubmissionStep::Kind::record, SubmissionStep::Kind::finish}) {
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
      for (const SubmissionStep& step : program.agents[a]) {
        ASSERT_EQ(schedule.ops[step.op.index()].agent.index(), a);
        ASSERT_GE(step.op.value, last);
        last = step.op.value;
        submitted[step.op.index()] += step.kind == SubmissionStep::Kind::submit;
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
      for (const SubmissionStep& step : program.agents[a]) {
        if (step.kind != SubmissionStep::Kind::await) continue;
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
