#include "shiplap/advise/json_objects.hpp"

#include <fmt/format.h>

#include "shiplap/advise/text_stream.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap {
namespace {

constexpr std::size_t block_bytes = std::size_t{256} << 10u;

/// Follows the braces and strings of one object, byte by byte.
class ObjectEnd {
 public:
  /// Takes the next byte. Returns whether the object goes on.
  bool goes_on_after(char c) {
    if (in_string_) {
      take_in_string(c);
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{') {
      is_broken_ = ++depth_ > limits::nesting;
    } else if (c == '}') {
      --depth_;
    }
    return depth_ > 0 && !is_broken_;
  }
  bool is_broken() const { return is_broken_; }

 private:
  void take_in_string(char c) {
    // No string has a line break. One that seems to have it began with a quote that another text did not escape.
    is_broken_ = c == '\n';
    if (c == '"' && !is_escaped_) in_string_ = false;
    is_escaped_ = c == '\\' && !is_escaped_;
  }

  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool is_escaped_ = false;
  bool is_broken_ = false;
};

bool is_white_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

std::optional<JsonObjectText> JsonObjects::next() {
  // What lies before the search goes on is needed no more.
  if (next_ >= block_bytes) {
    buffer_.erase(0, next_);
    next_ = 0;
  }
  if (!find_open_brace()) return std::nullopt;
  const JsonObjectText::End end = find_end();
  const JsonObjectText object{std::string_view(buffer_).substr(begin_, next_ - begin_), end};
  last_outside_ = '\0';
  if (end == JsonObjectText::End::cut) cut_ = true;
  if (end != JsonObjectText::End::closed) reject();
  return object;
}

void JsonObjects::reject() {
  count_as_read_again(next_ - begin_ - 1);
  next_ = begin_ + 1;
}

/// Goes to the next brace that opens an object inside the outermost one. Strings outside of objects are not followed: a
/// brace in them opens an object that is broken or of no use.
bool JsonObjects::find_open_brace() {
  for (; has(next_); ++next_) {
    if (next_ >= block_bytes) {  // what was passed is not needed any more
      buffer_.erase(0, next_);
      next_ = 0;
    }
    const char c = buffer_[next_];
    if (!is_white_space(c)) last_outside_ = c;
    if (c == '{' && is_entered_) {
      begin_ = next_;
      return true;
    }
    is_entered_ = is_entered_ || c == '{' || c == '[';
  }
  return false;
}

/// Goes behind the end of the object that begins at `begin_`.
JsonObjectText::End JsonObjects::find_end() {
  ObjectEnd object;
  for (; has(next_); ++next_) {
    if (next_ - begin_ == most_object_bytes) return JsonObjectText::End::broken;
    if (object.goes_on_after(buffer_[next_])) continue;
    ++next_;
    return object.is_broken() ? JsonObjectText::End::broken : JsonObjectText::End::closed;
  }
  return JsonObjectText::End::cut;
}

/// Appends a block to the buffer. Returns false at the end of the text.
bool JsonObjects::fill() {
  const std::string block = read_block(in_, block_bytes, source_);
  buffer_ += block;
  read_ += block.size();
  if (read_ > most_bytes)
    throw Error(
        fmt::format("{}: it has more than {}, and no more is read of a trace; profile a shorter part of the program",
                    source_, to_string(Bytes{most_bytes})));
  return !block.empty();
}

void JsonObjects::count_as_read_again(std::size_t bytes) {
  read_again_ += bytes;
  if (read_again_ > most_bytes_read_again)
    throw Error(
        fmt::format("{}: too much of it is no JSON, so it is not read as a trace; export the trace again", source_));
}

}  // namespace shiplap
