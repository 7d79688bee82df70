#include "shiplap/advise/recording_writer.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "shiplap/advise/recording_names.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/json_forward.hpp"

namespace shiplap {
namespace {

template <class Names, class Value>
const char* name_in(const Names& names, Value value) {
  const auto found = std::ranges::find(names, value, [](const auto& name) { return name.first; });
  if (found == names.end()) throw Error("a recording has no name for this kind of memory or order");
  return found->second;
}

}  // namespace

RecordingWriter::RecordingWriter(std::string program, std::string gpu, Sink sink) : sink_(std::move(sink)) {
  sink_(Json{{"schema", formats::recording.schema},
             {"version", formats::recording.version},
             {"program", std::move(program)},
             {"gpu", std::move(gpu)}}
            .dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::uint64_t RecordingWriter::number_of(const std::string& name) {
  const auto [found, is_new] = names_.try_emplace(name, names_.size());
  if (is_new) sink_(Json::array({"name", found->second, name}).dump(-1, ' ', false, Json::error_handler_t::replace));
  return found->second;
}

void RecordingWriter::write(const Record& record) {
  struct Line {
    RecordingWriter& writer;
    Json operator()(const RecordedCall& r) const {
      return {"call", r.call, r.thread, r.time.start, r.time.end, writer.number_of(r.function)};
    }
    Json operator()(const RecordedCopy& r) const {
      return {"copy",
              r.call,
              r.stream,
              r.time.start,
              r.time.end,
              r.size.count,
              name_in(memory_names, r.from),
              name_in(memory_names, r.to),
              r.from_address,
              r.to_address,
              r.content,
              r.gpu};
    }
    Json operator()(const RecordedKernel& r) const {
      return {"kernel", r.call,    r.stream, r.time.start, r.time.end, writer.number_of(r.name),
              r.blocks, r.threads, r.gpu};
    }
    Json operator()(const RecordedFill& r) const {
      return {"fill", r.call, r.stream, r.time.start, r.time.end, r.size.count, r.gpu};
    }
    Json operator()(const RecordedOrder& r) const {
      return {"order", r.call, name_in(order_names, r.kind), r.stream, r.event};
    }
    Json operator()(const RecordedRange& r) const {
      return {"range", r.thread, r.time.start, r.time.end, writer.number_of(r.name)};
    }
    Json operator()(const RecordedMigration& r) const {
      return {"migration", r.time.start, r.time.end, r.size.count, r.to_device ? 1 : 0, r.gpu};
    }
    Json operator()(const RecordedPause& r) const { return {"pause", r.time.start, r.time.end}; }
  };
  const Json line = std::visit(Line{*this}, record);
  sink_(line.dump());
  ++records_;
}

void RecordingWriter::close(std::uint64_t lost) { sink_(Json::array({"end", records_, lost}).dump()); }

}  // namespace shiplap
