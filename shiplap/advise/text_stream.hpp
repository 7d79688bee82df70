// A text file as a stream, also when gzip has compressed it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>

namespace shiplap {

/// Whether gzip has compressed the file, by its first two bytes; false when it cannot be read.
bool is_gzip(const std::filesystem::path& file);

/// Opens a file that gzip has compressed, and gives its text. A compressed file that breaks off gives the text before
/// its end. Throws Error when it cannot be opened, and Unsupported in builds without zlib. Reading throws Error when
/// the compressed bytes are damaged.
std::unique_ptr<std::istream> open_gzip(const std::filesystem::path& file);

/// Opens a text file, compressed or not. Throws Error when it cannot be opened.
std::unique_ptr<std::istream> open_text(const std::filesystem::path& file);

/// Reads the next bytes of a stream, at most this number; fewer are left at its end. Throws Error that names `source`
/// and the reason of the operating system when they cannot be read.
std::string read_block(std::istream&, std::size_t most, const std::string& source);

}  // namespace shiplap
