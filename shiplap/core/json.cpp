#include "shiplap/core/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>
#include <vector>

#include "shiplap/core/error.hpp"
#include "shiplap/core/format_help.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/text_file.hpp"

namespace shiplap {
namespace {

constexpr std::size_t longest_excerpt = 60;

// The value as a text for messages. Long scalars are cut off, and containers are only named.
std::string excerpt(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return fmt::format("an array of {}", value.size());
  std::string text = value.is_number_float() && !std::isfinite(value.get<double>())
                         ? fmt::format("{}", value.get<double>())
                         : json_text(value);
  return printable(text, longest_excerpt);
}

std::string joined(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
};
// The position of the character at `offset`, counted from 0. The end of the text counts as a character.
Position position_in(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const std::size_t last_newline = before.rfind('\n');
  return {.line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')),
          .column = 1 + before.size() - (last_newline == std::string_view::npos ? 0 : last_newline + 1)};
}

// Builds a document from the parser's events. Unlike the reader of nlohmann::json it refuses a key that occurs twice in
// an object, of which one value would be lost, and it knows the position of every error, also of numbers that are too
// large.
class DocumentBuilder {
 public:
  using number_integer_t = Json::number_integer_t;
  using number_unsigned_t = Json::number_unsigned_t;
  using number_float_t = Json::number_float_t;
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  DocumentBuilder(std::string_view text, const std::string& source) : text_(text), source_(printable(source)) {}

  bool null() { return add(nullptr), true; }
  bool boolean(bool value) { return add(value), true; }
  bool number_integer(number_integer_t value) { return add(value), true; }
  bool number_unsigned(number_unsigned_t value) { return add(value), true; }
  bool number_float(number_float_t value, const string_t&) { return add(value), true; }
  bool string(string_t& value) { return add(printable(without_null(value))), true; }
  bool binary(binary_t& value) { return add(std::move(value)), true; }
  bool start_object(std::size_t) { return open(Json::object()), true; }
  bool start_array(std::size_t) { return open(Json::array()), true; }
  bool end_object() { return open_.pop_back(), true; }
  bool end_array() { return open_.pop_back(), true; }
  bool key(string_t& name) {
    key_ = printable(without_null(name));
    if (!open_.back().keys.insert(key_).second)
      throw Error(fmt::format("{}: key {} occurs twice in one object; remove one of the two", source_, excerpt(key_)));
    return true;
  }
  bool parse_error(std::size_t read, const std::string&, const Json::exception& error) {
    // `read` counts the characters up to and including the invalid one.
    const Position at = position_in(text_, read == 0 ? 0 : read - 1);
    // The text of nlohmann::json is "[json.exception.x] parse error at line 1, column 2: …". Only "…" is kept.
    std::string_view reason = error.what();
    if (const auto tag = reason.find("] "); tag != std::string_view::npos) reason.remove_prefix(tag + 2);
    if (reason.starts_with("parse error at")) reason.remove_prefix(reason.find(": ") + 2);
    throw Error(
        fmt::format("{}: line {}, column {}: not valid JSON: {}", source_, at.line, at.column, printable(reason)));
  }

  Json take() { return std::move(root_); }

 private:
  // An object or array around the current position. The keys of an object are kept, because searching in it takes time
  // proportional to their number.
  struct Open {
    Json* value;
    std::unordered_set<std::string> keys{};
  };

  // A message that quotes a text would end at a null character.
  string_t without_null(string_t& text) {
    if (text.find('\0') != string_t::npos)
      throw Error(fmt::format("{}: a text has the null character (\\u0000), which no file of shiplap has; leave it out",
                              source_));
    return std::move(text);
  }

  void open(Json value) {
    if (open_.size() == limits::nesting)
      throw Error(
          fmt::format("{}: more than {} objects and arrays are within each other, which no file of shiplap has; "
                      "give a file that shiplap has written",
                      source_, limits::nesting));
    open_.push_back({add(std::move(value))});
  }

  Json* add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back().value;
    if (parent.is_array()) return &parent.emplace_back(std::move(value));
    // The key is known to be new, so it is not searched again.
    Json::object_t::Container& members = parent.get_ref<Json::object_t&>();
    return &members.emplace_back(std::move(key_), std::move(value)).second;
  }

  std::string_view text_;
  std::string source_;
  Json root_;
  std::vector<Open> open_;  // outermost first
  std::string key_;
};

}  // namespace

JsonReader::JsonReader(const Json& root, const std::string& source) : JsonReader(root, printable(source), "") {}

JsonReader::JsonReader(const Json& value, std::string source, std::string path)
    : value_(&value), source_(std::move(source)), path_(std::move(path)) {}

void JsonReader::fail(std::string_view expected) const {
  throw Error(
      fmt::format("{}: {}expected {}, got {}", source_, path_.empty() ? "" : path_ + ": ", expected, excerpt(*value_)));
}

JsonReader JsonReader::at(std::string_view key) const {
  if (!value_->is_object()) fail(fmt::format("an object with the key \"{}\"", key));
  const auto found = value_->find(key);
  if (found == value_->end())
    throw Error(fmt::format("{}: {}: expected a value, but the key is missing", source_, joined(path_, key)));
  return {*found, source_, joined(path_, key)};
}

std::optional<JsonReader> JsonReader::find(std::string_view key) const {
  if (!value_->is_object()) fail("an object");
  const auto found = value_->find(key);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return JsonReader{*found, source_, joined(path_, key)};
}

std::size_t JsonReader::size() const {
  if (!value_->is_array()) fail("an array");
  return value_->size();
}

JsonReader JsonReader::at(std::size_t index) const {
  if (index >= size()) fail(fmt::format("an array of at least {}", index + 1));
  return {(*value_)[index], source_, fmt::format("{}[{}]", path_, index)};
}

std::string JsonReader::string() const {
  if (!value_->is_string()) fail("a text");
  return value_->get<std::string>();
}

bool JsonReader::boolean() const {
  if (!value_->is_boolean()) fail("true or false");
  return value_->get<bool>();
}

double JsonReader::number() const {
  if (!value_->is_number() || !std::isfinite(value_->get<double>())) fail("a finite number");
  return value_->get<double>();
}

double JsonReader::non_negative() const {
  if (!value_->is_number() || !std::isfinite(value_->get<double>()) || value_->get<double>() < 0)
    fail("a finite number >= 0");
  return value_->get<double>();
}

double JsonReader::positive() const {
  if (!value_->is_number() || !std::isfinite(value_->get<double>()) || value_->get<double>() <= 0)
    fail("a finite number > 0");
  return value_->get<double>();
}

std::uint64_t JsonReader::unsigned_integer() const {
  // The parser makes unsigned values of numbers ≥ 0, but a value made in memory may be signed.
  const bool whole = value_->is_number_unsigned() || (value_->is_number_integer() && value_->get<std::int64_t>() >= 0);
  if (!whole) fail("a whole number >= 0");
  return value_->get<std::uint64_t>();
}

void JsonReader::for_each_member(const std::function<void(const std::string&, const JsonReader&)>& visit) const {
  if (!value_->is_object()) fail("an object");
  for (const auto& [key, value] : value_->get_ref<const Json::object_t&>())
    visit(key, {value, source_, joined(path_, key)});
}

void JsonReader::only_keys(std::span<const std::string_view> allowed) const {
  if (!value_->is_object()) fail("an object");
  for (const auto& item : value_->items())
    if (std::find(allowed.begin(), allowed.end(), item.key()) == allowed.end())
      throw Error(fmt::format("{}: {}: unknown key; expected one of {}", source_, joined(path_, item.key()),
                              fmt::join(allowed, ", ")));
}

Json parse_json(std::string_view text, const std::string& source) {
  if (text.size() > limits::document_bytes) refuse_size(source, limits::document_bytes);
  try {
    DocumentBuilder builder(text, source);
    Json::sax_parse(text.begin(), text.end(), &builder);
    return builder.take();
  } catch (const Error&) {
    refuse_lines(text, source);
    throw;
  }
}

std::string json_text(const Json& json, int indent) {
  const std::string text = json.dump(indent, ' ', false, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  // Whatever is not printable stands in a text or a key, but for the line breaks of the indentation.
  for (std::string_view rest = text; !rest.empty();) {
    const auto is_ascii = [](char c) { return (c >= 0x20 && c < 0x7f) || c == '\n'; };
    std::size_t length = static_cast<std::size_t>(std::ranges::find_if_not(rest, is_ascii) - rest.begin());
    if (length == 0) length = length_of_printable(rest);
    if (length == 0) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(take_code_point(rest)));
      continue;
    }
    out += rest.substr(0, length);
    rest.remove_prefix(length);
  }
  return out;
}

Json read_json_file(const std::string& path) { return parse_json(read_text_file(path), path); }

void require_schema(const JsonReader& document, const FileFormat& format) {
  const JsonReader name = document.at("schema");
  if (name.string() != format.schema) refuse_format(document.source(), name.string(), format.schema);
  const JsonReader number = document.at("version");
  if (number.unsigned_integer() != format.version)
    number.fail(fmt::format("{} (the version that this shiplap reads); write the file again with this shiplap",
                            format.version));
}

std::string content_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ull;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace shiplap
