#include "shiplap/advise/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "shiplap/advise/recording_names.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/json.hpp"

namespace shiplap {
namespace {

/// The elements of a line after its kind, one after the other.
class Fields {
 public:
  /// `named` grows by the bytes of the names that are read.
  Fields(const JsonReader& line, const std::vector<std::string>& names, std::uint64_t& named)
      : line_(line), names_(names), named_(named) {}

  std::uint64_t integer() { return line_.at(next_++).unsigned_integer(); }
  std::uint32_t small() {
    const JsonReader field = line_.at(next_);
    const std::uint64_t value = integer();
    if (value > 0xffffffffu) field.fail("a number below 2^32");
    return static_cast<std::uint32_t>(value);
  }
  Nanoseconds time() {
    const JsonReader field = line_.at(next_ + 1);
    Nanoseconds time{};
    time.start = integer();
    time.end = integer();
    if (time.end < time.start) field.fail("an end that is not before the start");
    return time;
  }
  std::string name() {
    const JsonReader field = line_.at(next_);
    const std::uint64_t number = integer();
    if (number >= names_.size()) field.fail("the number of a name that has been written before");
    named_ += names_[number].size();
    return names_[number];
  }
  template <class Names>
  auto one_of(const Names& names) {
    const JsonReader field = line_.at(next_++);
    const std::string text = field.string();
    const auto found = std::ranges::find_if(names, [&](const auto& name) { return text == name.second; });
    if (found == names.end()) field.fail("a known kind");
    return found->first;
  }
  /// Whether a field follows that lines of older recorders lack.
  bool has_more() const { return next_ < line_.size(); }
  void end() const {
    if (line_.size() != next_) line_.fail(fmt::format("{} elements", next_));
  }

 private:
  JsonReader line_;
  const std::vector<std::string>& names_;
  std::uint64_t& named_;
  std::size_t next_ = 1;
};

std::optional<Record> record_from(const std::string& kind, Fields& f) {
  if (kind == "call") {
    RecordedCall call{f.integer(), f.small(), f.time(), f.name()};
    if (f.has_more()) call.error = f.small();
    return call;
  }
  if (kind == "copy") {
    RecordedCopy copy{.call = f.integer(), .stream = f.small(), .time = f.time(), .size = Bytes{f.integer()}};
    copy.from = f.one_of(recorded_memories);
    copy.to = f.one_of(recorded_memories);
    copy.from_address = f.integer();
    copy.to_address = f.integer();
    copy.content = f.integer();
    copy.gpu = f.small();
    return copy;
  }
  if (kind == "kernel")
    return RecordedKernel{f.integer(), f.small(), f.time(), f.name(), f.integer(), f.small(), f.small()};
  if (kind == "fill") return RecordedFill{f.integer(), f.small(), f.time(), Bytes{f.integer()}, f.small()};
  if (kind == "order") {
    RecordedOrder order{f.integer(), f.one_of(order_names), f.small(), f.integer()};
    if (f.has_more()) order.gpu = f.small();
    return order;
  }
  if (kind == "range") return RecordedRange{f.small(), f.time(), f.name()};
  if (kind == "migration") return RecordedMigration{f.time(), Bytes{f.integer()}, f.integer() != 0, f.small()};
  if (kind == "pause") return RecordedPause{f.time()};
  return std::nullopt;
}

/// Parses one line after another.
class Parser {
 public:
  explicit Parser(Recording& recording) : recording_(recording) {}

  /// The parser is told how much of the file was read, which bounds the size of the names.
  void has_read(std::uint64_t bytes) { read_ = bytes; }
  void header(const JsonReader& line) {
    require_schema(line, formats::recording);
    line.only_keys({"schema", "version", "program", "gpu"});
    recording_.program = line.at("program").string();
    recording_.gpu = line.at("gpu").string();
  }
  void line(const JsonReader& line) {
    if (recording_.complete) line.fail("nothing after the line that closes the recording");
    const std::string kind = line.at(std::size_t{0}).string();
    Fields fields(line, names_, named_);
    if (kind == "name") {
      if (line.at(1).unsigned_integer() != names_.size()) line.at(1).fail("the next number");
      names_.push_back(line.at(2).string());
    } else if (kind == "end") {
      if (fields.integer() != recording_.records.size()) line.at(1).fail("the number of the records before");
      recording_.lost = fields.integer();
      fields.end();
      recording_.complete = true;
    } else if (std::optional<Record> record = record_from(kind, fields)) {
      fields.end();
      // A line of a few bytes may refer to a long name, so the size of the file does not bound that of the records.
      if (const std::uint64_t most = limits::name_bytes(read_); named_ > most)
        line.fail(fmt::format("records whose names have at most {} together", to_string(Bytes{most})));
      recording_.records.push_back(std::move(*record));
    } else {
      line.at(std::size_t{0}).fail("call, copy, kernel, fill, order, range, migration, pause, name or end");
    }
  }

 private:
  Recording& recording_;
  std::vector<std::string> names_;
  std::uint64_t named_ = 0;  // bytes of the names of all records
  std::uint64_t read_ = 0;   // bytes of the file that were read
};

/// The lines of a stream, of which each and all together have a limited size.
class Lines {
 public:
  Lines(std::istream& in, const std::string& source) : in_(in), source_(source) {}

  /// Reads the next line into `text`. Returns false at the end of the stream.
  bool next(std::string& text) {
    text.clear();
    ++number_;
    for (int c = next_byte(); c != std::char_traits<char>::eof(); c = next_byte()) {
      if (++read_ > limits::log_bytes) refuse("the file", limits::log_bytes);
      if (c == '\n') return true;
      if (text.size() == limits::line_bytes) refuse("the line", limits::line_bytes);
      text.push_back(static_cast<char>(c));
    }
    is_cut_off_ = true;
    return !text.empty();
  }
  std::uint64_t number() const { return number_; }
  std::uint64_t bytes_read() const { return read_; }
  /// Whether the last line did not end with a newline, as every whole line does.
  bool is_cut_off() const { return is_cut_off_; }

 private:
  int next_byte() {
    try {
      return in_.rdbuf()->sbumpc();
    } catch (const std::ios_base::failure& failure) {
      throw Error(fmt::format("{}, line {}: it cannot be read: {}", source_, number_, failure.code().message()));
    }
  }
  [[noreturn]] void refuse(std::string_view what, std::uint64_t most) const {
    throw Error(
        fmt::format("{}, line {}: {} has more than {}, and no more is read of a recording; give a file that "
                    "`shiplap advise` has recorded",
                    source_, number_, what, to_string(Bytes{most})));
  }

  std::istream& in_;
  const std::string& source_;
  std::uint64_t number_ = 0;
  std::uint64_t read_ = 0;
  bool is_cut_off_ = false;
};

}  // namespace

std::optional<RecordedWork> work_of(const Record& record) {
  return std::visit(
      [](const auto& r) -> std::optional<RecordedWork> {
        if constexpr (requires { r.stream, r.gpu, r.time; })
          return RecordedWork{r.call, r.stream, r.gpu, r.time};
        else
          return std::nullopt;
      },
      record);
}

Recording read_recording(std::istream& in, const std::string& source) {
  Recording recording;
  Parser parser(recording);
  Lines lines(in, source);
  for (std::string text; lines.next(text);) {
    const std::uint64_t number = lines.number();
    const std::string where = fmt::format("{}, line {}", source, number);
    Json json;
    try {
      json = parse_json(text, where);
    } catch (const Error&) {
      if (lines.is_cut_off() && number > 1) break;
      throw;
    }
    const JsonReader line(json, where);
    parser.has_read(lines.bytes_read());
    if (number == 1)
      parser.header(line);
    else
      parser.line(line);
  }
  if (recording.gpu.empty()) throw Error(fmt::format("{}: it is no recording, because it names no GPU", source));
  return recording;
}

}  // namespace shiplap
