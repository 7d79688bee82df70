// The objects in a large JSON text, one after the other, also when some of the text is no valid JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace shiplap {

/// An object as it stands in the text.
struct JsonObjectText {
  /// How the text of an object ends.
  enum class End : std::uint8_t {
    closed,  ///< with its closing brace
    broken,  ///< in text that cannot be part of it, such as a line break in a string
    cut,     ///< where the whole text ends
  };
  std::string_view text;  ///< from its opening brace; valid until the next object is taken
  End end = End::closed;  ///< how it ends
};

/// Finds the objects that lie directly in the outermost object or array of a text, or in arrays and members of it. The
/// text is read in blocks, so that memory stays small for a text of any size.
///
/// Braces and strings are followed to find the end of an object; whether its text is JSON is for the caller to find
/// out. After an object that is no JSON, the search goes on behind its opening brace, so that the next whole object is
/// found. Objects within that object may then be found too.
class JsonObjects {
 public:
  /// Objects of more bytes than this count as broken.
  static constexpr std::size_t most_object_bytes = std::size_t{1} << 20u;
  /// The most bytes of a text that are read. A trace of ten million events has 2.2 GB.
  static constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30u;
  /// The most bytes that are read again after objects that are no JSON.
  static constexpr std::uint64_t most_bytes_read_again = std::uint64_t{256} << 20u;

  /// `source` names the text in messages. Both must outlive the object.
  JsonObjects(std::istream& in, const std::string& source) : in_(in), source_(source) {}

  /// The next object; nullopt at the end of the text. Throws Error when the text is larger than is read, or when too
  /// much of it is no JSON.
  std::optional<JsonObjectText> next();
  /// Tells that the text of the last object is no JSON.
  void reject();
  /// Whether the text ends with the brace or bracket that closes it.
  bool is_closed() const { return !cut_ && (last_outside_ == '}' || last_outside_ == ']'); }

 private:
  bool find_open_brace();
  JsonObjectText::End find_end();
  bool fill();
  bool has(std::size_t position) { return position < buffer_.size() || fill(); }
  void count_as_read_again(std::size_t bytes);

  std::istream& in_;
  const std::string& source_;
  std::string buffer_;
  std::size_t begin_ = 0;         // position of the last object in the buffer
  std::size_t next_ = 0;          // where the search goes on
  std::uint64_t read_ = 0;        // bytes read of the text
  std::uint64_t read_again_ = 0;  // bytes of objects that were no JSON
  char last_outside_ = '\0';      // last character outside of objects that is no white space; 0 after an object
  bool is_entered_ = false;       // whether the outermost object or array has begun
  bool cut_ = false;
};

}  // namespace shiplap
