#include "shiplap/fleet/worker.hpp"

#include <fmt/format.h>

#include <exception>
#include <future>
#include <nlohmann/json.hpp>
#include <system_error>

#include "shiplap/core/error.hpp"
#include "shiplap/core/thread.hpp"
#include "shiplap/core/what_failed.hpp"

namespace shiplap {
namespace {

constexpr std::size_t coordinator = 0;
/// Time between two looks whether this rank is to end.
constexpr Seconds look_at_stop = milliseconds(500);

DeviceList listed(const RankWork& work) {
  try {
    return {.devices = work.devices(), .failure = {}};
  } catch (const std::exception& error) {
    return {.devices = {}, .failure = what_failed(error)};
  }
}

/// The text of the report on what `act` does with a device.
std::string report(Task task, const std::string& device, const std::function<Json()>& act) {
  try {
    return to_text(task, device, act());
  } catch (const std::exception& error) {
    return failure_text(task, device, what_failed(error));
  }
}

void check(Communicator& ranks, const RankWork& work, const std::vector<std::string>& devices) {
  for (const std::string& device : devices) {
    if (work.stop && work.stop()) return;
    ranks.send(coordinator, report(Task::check, device, [&] { return work.check(device); }));
  }
}

/// What a thread of its own reports on the copies with a device, or why there is none.
std::future<std::string> copying(const RankWork& work, const std::string& device, Seconds begin) {
  try {
    return std::async(std::launch::async, [&work, &device, begin] {
      return report(Task::copy_at_once, device, [&] { return work.copy_at_once(device, begin); });
    });
  } catch (const std::system_error& refused) {
    return std::async(std::launch::deferred, [&device, refused] {
      return report(Task::copy_at_once, device, [&]() -> Json { throw_no_thread(refused); });
    });
  }
}

void copy_at_once(Communicator& ranks, const RankWork& work, const std::vector<std::string>& devices, Seconds begin) {
  std::vector<std::future<std::string>> reports;
  for (const std::string& device : devices) reports.push_back(copying(work, device, begin));
  for (std::future<std::string>& one : reports) ranks.send(coordinator, one.get());
}

}  // namespace

bool run_worker(Communicator& ranks, const RankWork& work, Seconds longest_silence) {
  ranks.send(coordinator, to_text(Hello{.node = work.node, .program = work.program}));
  ranks.send(coordinator, to_text(listed(work)));
  Seconds silent_since = steady_time();
  for (;;) {
    if (work.stop && work.stop()) return false;
    const auto message = ranks.receive(Deadline(steady_time() + look_at_stop));
    if (!message && steady_time() - silent_since > longest_silence)
      throw Error(fmt::format("rank 0 has been silent for {}, so rank {} ends; look for what ended rank 0",
                              to_string(longest_silence), ranks.rank()));
    if (!message) continue;
    const Order order = order_from_text(message->text, fmt::format("order of rank {}", message->from));
    if (order.end) return order.all_answered;
    if (order.task == Task::copy_at_once)
      copy_at_once(ranks, work, order.devices, order.begin);
    else
      check(ranks, work, order.devices);
    silent_since = steady_time();
  }
}

}  // namespace shiplap
