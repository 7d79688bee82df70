// JSON in and out with errors that name the file, the key and what was expected; files are written whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "shiplap/core/error.hpp"

namespace shiplap {

/// Keeps the order of keys, so that files read from top to bottom as they were written. Who looks into one, or makes
/// one, includes <nlohmann/json.hpp>: most only hand them on.
using Json = nlohmann::ordered_json;

/// A JSON value together with where it stands, so that a complaint can name the place: `links[0].h2d.per_byte`.
class JsonReader {
 public:
  /// `source` is the file name or another word for where the text came from. The reader refers to `root`, which must
  /// outlive it.
  JsonReader(const Json& root, std::string source);

  /// All of these throw Error naming source, path and expectation.
  JsonReader at(std::string_view key) const;
  std::optional<JsonReader> find(std::string_view key) const;  ///< nullopt when absent or null
  std::size_t size() const;                                    ///< of an array
  /// The element of that index.
  JsonReader at(std::size_t index) const;
  /// Its text.
  std::string string() const;
  /// Its truth value.
  bool boolean() const;
  double number() const;        ///< finite
  double non_negative() const;  ///< finite, ≥ 0
  double positive() const;      ///< finite, > 0
  /// A whole number of at most 64 bits, 0 or more.
  std::uint64_t unsigned_integer() const;
  /// Refuses any key of this object that is not in `allowed`: a misspelt key must not pass silently.
  void only_keys(std::span<const std::string_view> allowed) const;
  /// The same.
  void only_keys(std::initializer_list<std::string_view> allowed) const { only_keys(std::span(allowed)); }

  /// As it is, without a check.
  const Json& value() const { return *value_; }
  /// Throws Error that names source, path and what was expected there.
  [[noreturn]] void fail(std::string_view expected) const;

 private:
  JsonReader(const Json& value, std::string source, std::string path);
  const Json* value_;
  std::string source_;
  std::string path_;
};

/// Parses text; on a syntax error throws Error naming `source`, line and column.
Json parse_json(std::string_view text, const std::string& source);
/// Throws Error naming the path: it cannot be read, or is no JSON.
Json read_json_file(const std::filesystem::path&);
/// Throws Error naming the path and the system's reason.
std::string read_text_file(const std::filesystem::path&);

/// Writes to a temporary file beside `path`, flushes it and renames it: readers see the old content or the new, never a
/// part. Throws Error naming the path and the system's reason.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Checks `schema` ("shiplap/profile") and `version` of a document; refuses another schema and any version but
/// `version`.
void require_schema(const JsonReader& document, std::string_view schema, std::uint64_t version);

/// 64-bit FNV-1a of a text as 16 hex digits: identifies a profile in results.
std::string content_hash(std::string_view text);

}  // namespace shiplap
