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

/// The most bytes of a name. As JSON each may take six, and a line has room for them.
constexpr std::size_t most_name_bytes = limits::line_bytes / 8;
/// Room for the lines of a record, its name and the end.
constexpr std::uint64_t room_for_a_record = limits::line_bytes + 4096;

std::string cut(std::string name) {
  if (name.size() > most_name_bytes) name.resize(most_name_bytes);
  return name;
}

const std::string& name_of(const Record& record) {
  static const std::string none;
  return std::visit(
      [](const auto& r) -> const std::string& {
        if constexpr (requires { r.function; })
          return r.function;
        else if constexpr (requires { r.name; })
          return r.name;
        else
          return none;
      },
      record);
}

}  // namespace

RecordingWriter::RecordingWriter(std::string program, std::string gpu, Sink sink, std::uint64_t most_bytes)
    : sink_(std::move(sink)), most_bytes_(most_bytes) {
  put(Json{{"schema", formats::recording.schema},
           {"version", formats::recording.version},
           {"program", cut(std::move(program))},
           {"gpu", cut(std::move(gpu))}}
          .dump(-1, ' ', false, Json::error_handler_t::replace));
}

void RecordingWriter::put(const std::string& line) {
  bytes_ += line.size() + 1;
  sink_(line);
}

std::uint64_t RecordingWriter::number_of(const std::string& name) {
  const auto [found, is_new] = names_.try_emplace(cut(name), names_.size());
  if (is_new)
    put(Json::array({"name", found->second, found->first}).dump(-1, ' ', false, Json::error_handler_t::replace));
  return found->second;
}

bool RecordingWriter::has_room_for(const std::string& name) const {
  return bytes_ + room_for_a_record <= most_bytes_ &&
         bytes_of_names_ + std::min(name.size(), most_name_bytes) <= limits::name_bytes(bytes_);
}

void RecordingWriter::write(const Record& record) {
  const std::string& name = name_of(record);
  is_full_ = is_full_ || !has_room_for(name);
  if (is_full_) return;
  bytes_of_names_ += std::min(name.size(), most_name_bytes);
  struct Line {
    RecordingWriter& writer;
    Json operator()(const RecordedCall& r) const {
      Json line{"call", r.call, r.thread, r.time.start, r.time.end, writer.number_of(r.function)};
      if (r.error != 0) line.push_back(r.error);
      return line;
    }
    Json operator()(const RecordedCopy& r) const {
      return {"copy",
              r.call,
              r.stream,
              r.time.start,
              r.time.end,
              r.size.count,
              name_in(recorded_memories, r.from),
              name_in(recorded_memories, r.to),
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
      Json line{"order", r.call, name_in(order_names, r.kind), r.stream, r.event};
      if (r.gpu != RecordedOrder::unknown_gpu) line.push_back(r.gpu);
      return line;
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
  put(line.dump());
  ++records_;
}

void RecordingWriter::close(std::uint64_t lost) {
  put(Json::array({"end", records_, lost + (is_full_ ? 1 : 0)}).dump());
}

}  // namespace shiplap
