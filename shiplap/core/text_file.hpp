// Whole files of text. They are written whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "shiplap/core/formats.hpp"

namespace shiplap {

/// Reads a file, device or pipe that the user has named. Throws Error that names the path and the reason of the
/// operating system, or says that it has more than `most` bytes, of which no more than that is read.
std::string read_text_file(const std::string&, std::uint64_t most = limits::document_bytes);
/// Reads a file whose name shiplap has made or found, as in a cache or a folder of messages. A pipe, socket or device
/// that has this name could block for ever: it is refused with an Error. Otherwise as `read_text_file`.
std::string read_regular_file(const std::string&, std::uint64_t most = limits::document_bytes);

/// Writes a temporary file beside `path`, flushes it and renames it, so that readers see either the old or the new
/// content. A symbolic link is followed, except that of another user in a folder where everybody may write (as /tmp).
/// Throws Error that names the path and the reason of the operating system.
void write_file_atomically(const std::string& path, std::string_view content);

/// Writes a document that shiplap reads again, as `write_file_atomically` does. Throws Error when it is longer than
/// what is read of such a file (`limits::document_bytes`); the file then stays as it is.
void write_document(const std::string& path, std::string_view content);

/// Makes the folder and its parents where they are missing. Throws Error that names the folder and says why the system
/// refused it.
void make_folders(const std::filesystem::path&);

/// Throws Error that says that `source` has more than `most` bytes.
[[noreturn]] void refuse_size(const std::string& source, std::uint64_t most);

}  // namespace shiplap
