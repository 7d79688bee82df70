#include "tests/emit/cuda/calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <sstream>

#include "shiplap/schedule/schedule.hpp"

namespace shiplap::testing {
namespace {

struct Reader {
  struct Block {
    std::uint64_t begin = 0;
    std::uint64_t size = 0;
  };
  struct Stream {
    std::vector<std::string> entries;  // waits with a mark in front, whose stream may have no name yet
    std::vector<std::pair<std::string, std::size_t>> waits;  // by entry: stream and position, of those with the mark
    std::string name;
    std::string priority;  // before the name of a stream that has one
    std::size_t done = 0;
  };

  std::string place(const std::string& address) const {
    const std::uint64_t at = std::stoull(address, nullptr, 16);
    for (std::size_t b = 0; b < blocks.size(); ++b)
      if (at >= blocks[b].begin && at < blocks[b].begin + blocks[b].size)
        return fmt::format("{}+{}", b, at - blocks[b].begin);
    return "?";
  }
  void work(const std::string& stream, const std::string& what) {
    Stream& s = streams[stream];
    if (s.name.empty()) s.name = s.priority + what;
    ++s.done;
    s.entries.push_back(what);
  }
  void read(const std::string& line) {
    std::istringstream words(line);
    std::string kind, a, b, c, d, e;
    words >> kind >> a >> b >> c >> d >> e;
    if (kind == "memory") blocks.push_back({std::stoull(a, nullptr, 16), std::stoull(b)});
    if (kind == "clock") clocks.insert(a);
    if (kind == "copy") work(a, fmt::format("copy {} <- {}, {} bytes, kind {}", place(b), place(c), d, e));
    if (kind == "batch") work(a, fmt::format("batch of {}", b));
    if (kind == "prefetch") work(a, fmt::format("prefetch {}, {} bytes, to {}", place(b), c, d));
    if (kind == "advise") advised.insert(fmt::format("{}, {} bytes, advice {} for {}", place(a), b, c, d));
    if (kind == "urgent") streams[a].priority = fmt::format("priority {}: ", b);
    if (kind == "strided") {
      std::string width, height, way;
      words >> width >> height >> way;
      work(a, fmt::format("{} times {} bytes {} <- {}, pitches {} and {}, kind {}", height, width, place(b), place(c),
                          d, e, way));
    }
    if (kind == "move") {
      std::string threads;
      words >> threads;
      work(a,
           fmt::format("move {} words between {} and {}, {} blocks of {} threads", d, place(b), place(c), e, threads));
    }
    if (kind == "launch") {
      std::string what = fmt::format("launch {} blocks, {} bytes, {}", b, c, place(d));
      if (!e.empty()) what += " " + place(e);
      for (std::string operand; words >> operand;) what += " " + place(operand);
      work(a, what);
    }
    if (kind == "record") recorded[b] = {a, streams[a].done};
    if (kind == "wait") {
      streams[a].entries.emplace_back();
      streams[a].waits.push_back(recorded.at(b));
    }
    if (kind == "synchronize" && !clocks.contains(a)) synchronized.push_back(recorded.at(a));
  }
  std::string name(const std::pair<std::string, std::size_t>& mark) const {
    return fmt::format("{} of the stream of [{}]", mark.second, streams.at(mark.first).name);
  }

  std::vector<Block> blocks;
  std::set<std::string> clocks;
  std::map<std::string, Stream> streams;
  std::map<std::string, std::pair<std::string, std::size_t>> recorded;
  std::vector<std::pair<std::string, std::size_t>> synchronized;
  std::set<std::string> advised;
};

}  // namespace

Calls calls_of(const std::vector<std::string>& lines) {
  Reader reader;
  for (const std::string& line : lines) reader.read(line);
  Calls calls;
  for (const auto& [handle, stream] : reader.streams) {
    if (stream.done == 0) continue;
    auto& entries = calls.streams[stream.name];
    std::size_t wait = 0;
    std::vector<std::string> waits;  // one after the other: in any order
    const auto put_waits = [&] {
      std::ranges::sort(waits);
      std::ranges::copy(waits, std::back_inserter(entries));
      waits.clear();
    };
    for (const std::string& entry : stream.entries) {
      if (entry.empty()) {
        waits.push_back("wait for " + reader.name(stream.waits[wait++]));
        continue;
      }
      put_waits();
      entries.push_back(entry);
    }
    put_waits();
  }
  for (const auto& mark : reader.synchronized) calls.synchronized.insert(reader.name(mark));
  calls.advised = reader.advised;
  return calls;
}

std::string difference(const Calls& expected, const Calls& seen) {
  for (const auto& [name, entries] : expected.streams) {
    const auto found = seen.streams.find(name);
    if (found == seen.streams.end()) return "no stream begins with " + name;
    for (std::size_t i = 0; i < std::max(entries.size(), found->second.size()); ++i) {
      const std::string want = i < entries.size() ? entries[i] : "nothing";
      const std::string got = i < found->second.size() ? found->second[i] : "nothing";
      if (want != got)
        return fmt::format("call {} of the stream of [{}] is\n  {}\ninstead of\n  {}", i, name, got, want);
    }
  }
  if (seen.streams.size() != expected.streams.size())
    return fmt::format("{} streams instead of {}", seen.streams.size(), expected.streams.size());
  if (seen.synchronized != expected.synchronized)
    return fmt::format("host threads wait for {} events instead of {}, or for others", seen.synchronized.size(),
                       expected.synchronized.size());
  if (seen.advised != expected.advised)
    return fmt::format("{} ranges have advice instead of {}, or another one", seen.advised.size(),
                       expected.advised.size());
  return "";
}

}  // namespace shiplap::testing
