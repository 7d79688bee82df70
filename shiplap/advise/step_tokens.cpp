#include "shiplap/advise/step_tokens.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "shiplap/advise/cuda_functions.hpp"

namespace shiplap {
namespace {

/// Numbers the kinds of ops.
class Kinds {
 public:
  explicit Kinds(StreamsOfSteps streams) : streams_(streams) {}

  /// The kind with its size or grid, and its family without.
  std::pair<OpKind, OpKind> of(const Record& record) {
    Description key{record.index(), {}, 0, 0, 0};
    if (const auto* kernel = std::get_if<RecordedKernel>(&record))
      key = {record.index(), kernel->name, 0, kernel->threads, stream_of(*kernel)};
    else if (const auto* copy = std::get_if<RecordedCopy>(&record))
      key = {record.index(),
             {},
             0,
             static_cast<std::uint64_t>(copy->from) << 8u | static_cast<std::uint64_t>(copy->to),
             stream_of(*copy)};
    else if (const auto* fill = std::get_if<RecordedFill>(&record))
      key = {record.index(), {}, 0, 0, stream_of(*fill)};
    const OpKind family = number(families_, key);
    std::get<2>(key) = extent_of(record);
    return {number(kinds_, std::move(key)), family};
  }

 private:
  /// OpKind of record, name, size or grid, what else tells kinds apart, and stream.
  using Description = std::tuple<std::size_t, std::string, std::uint64_t, std::uint64_t, std::uint64_t>;
  std::uint64_t stream_of(const auto& work) const {
    return std::uint64_t{work.gpu} << 32u | (streams_ == StreamsOfSteps::are_alike ? 0 : work.stream);
  }
  static std::uint64_t extent_of(const Record& record) {
    if (const auto* kernel = std::get_if<RecordedKernel>(&record)) return kernel->blocks;
    if (const auto* copy = std::get_if<RecordedCopy>(&record)) return copy->size.count;
    const auto* fill = std::get_if<RecordedFill>(&record);
    return fill == nullptr ? 0 : fill->size.count;
  }
  static OpKind number(std::map<Description, OpKind>& known, Description key) {
    return known.try_emplace(std::move(key), static_cast<OpKind>(known.size() + 1)).first->second;
  }
  StreamsOfSteps streams_;
  std::map<Description, OpKind> kinds_, families_;
};

}  // namespace

std::vector<std::uint64_t> times_of_waits(const Recording& recording, const RecordedCalls& calls) {
  std::vector<std::uint64_t> times;
  for (const Record& record : recording.records) {
    if (const auto* order = std::get_if<RecordedOrder>(&record)) {
      const bool waits = order->kind != RecordedOrder::Kind::record && order->kind != RecordedOrder::Kind::stream_wait;
      if (const auto call = calls.find(order->call); waits && call != calls.end())
        times.push_back(call->second->time.start);
    } else if (const auto* copy = std::get_if<RecordedCopy>(&record)) {
      const auto call = calls.find(copy->call);
      if (call != calls.end() && !is_asynchronous(call->second->function)) times.push_back(call->second->time.end);
    }
  }
  std::ranges::sort(times);
  return times;
}

std::vector<StepToken> tokens_of(const Recording& recording, const std::vector<SubmittedOp>& submitted,
                                 const std::vector<std::uint64_t>& waits, StreamsOfSteps streams) {
  std::vector<StepToken> tokens;
  Kinds kinds(streams);
  const auto add = [&](StepToken token) {
    if (!tokens.empty() && tokens.back().op == token.op) return;
    if (!tokens.empty() && tokens.back().op == wait_of_host)
      token.naturalness = tokens.size() > 1 && tokens[tokens.size() - 2].is_result ? 2 : 1;
    tokens.push_back(token);
  };
  auto wait = waits.begin();
  for (std::size_t i = 0; i < submitted.size(); ++i) {
    for (; wait != waits.end() && *wait < submitted[i].time; ++wait) add({.position = i});
    const Record& record = recording.records[submitted[i].record];
    const auto* copy = std::get_if<RecordedCopy>(&record);
    const bool is_with_host = copy != nullptr && (copy->from != MemoryKind::device || copy->to != MemoryKind::device);
    const auto [kind, family] = kinds.of(record);
    add({.position = i,
         .op = kind,
         .family = family,
         .is_result = copy != nullptr && copy->to != MemoryKind::device,
         .is_with_host = is_with_host});
  }
  return tokens;
}

}  // namespace shiplap
