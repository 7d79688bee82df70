#include "shiplap/advise/recording_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <istream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>

#include "shiplap/advise/nsys.hpp"
#include "shiplap/advise/text_stream.hpp"
#include "shiplap/advise/torch_trace.hpp"
#include "shiplap/core/error.hpp"
#include "shiplap/core/format_help.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/json.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/text_file.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;

/// A kind of file that is not read, and how a file that can be read is made of it.
struct UnreadableKind {
  std::string_view begin;      ///< first bytes of such a file; "": the extension alone tells
  std::string_view extension;  ///< extension of such a file; "": the first bytes alone tell
  std::string_view what;       ///< what the file is
  std::string_view remedy;     ///< what to do, where {} is the name of the file
};

constexpr std::string_view export_nsys = "write `nsys export --type sqlite {}` and give the file that it writes";
constexpr std::array unreadable_kinds{
    UnreadableKind{"version https://git-lfs", "", "a pointer of Git LFS, and the file itself was not fetched",
                   "write `git lfs pull --include {}` in its repository"},
    UnreadableKind{"", ".nsys-rep", "a report of Nsight Systems before its export", export_nsys},
    UnreadableKind{"", ".qdrep", "a report of Nsight Systems before its export", export_nsys},
    UnreadableKind{"", ".ncu-rep", "a report of Nsight Compute, which has single kernels and no times of a program",
                   "record the program with `shiplap advise --record` instead of {}"},
    UnreadableKind{"\x28\xb5\x2f\xfd", "", "compressed with zstd",
                   "write `unzstd {}` and give the file that it writes"},
    UnreadableKind{"\xfd\x37zXZ", "", "compressed with xz", "write `unxz --keep {}` and give the file without .xz"},
    UnreadableKind{"BZh", "", "compressed with bzip2", "write `bunzip2 --keep {}` and give the file without .bz2"},
    UnreadableKind{"PK\x03\x04", "", "a zip archive", "write `unzip {}` and give the file that was in it"},
    UnreadableKind{"", ".pftrace", "a trace of Perfetto in its binary form",
                   "write `traceconv json {} trace.json` and give trace.json"},
    UnreadableKind{"", ".perfetto-trace", "a trace of Perfetto in its binary form",
                   "write `traceconv json {} trace.json` and give trace.json"},
};

bool is_of_kind(const UnreadableKind& kind, const fs::path& file, std::string_view begin) {
  return begin.starts_with(kind.begin) && (kind.extension.empty() || file.extension() == kind.extension);
}

constexpr std::size_t begin_bytes = std::size_t{64} << 10u;  // enough to tell what a file is

/// Whether a text that begins so is a trace in the Chrome trace format.
bool begins_trace(std::string_view begin) {
  const std::size_t first = begin.find_first_not_of(" \t\r\n");
  if (first == begin.npos || (begin[first] != '{' && begin[first] != '[')) return false;
  const std::string_view first_line = begin.substr(first, begin.find('\n', first) - first);
  if (first_line.find("\"shiplap/recording\"") != begin.npos) return false;
  constexpr std::array keys{"\"traceEvents\"", "\"schemaVersion\"", "\"ph\""};
  return std::ranges::any_of(keys, [&](const char* key) { return begin.find(key) != begin.npos; });
}

void refuse_program(const fs::path& file, int first) {
  constexpr char begin_of_elf = 0x7f;
  constexpr char begin_of_script = '#';
  if (first == begin_of_elf || first == begin_of_script)
    throw UsageError(fmt::format("{0}: it is a program and no recording; to record it, write `shiplap advise -- {0}`",
                                 file.string()));
}

void refuse_unreadable(const fs::path& file, std::string_view begin) {
  for (const UnreadableKind& kind : unreadable_kinds)
    if (is_of_kind(kind, file, begin))
      throw Error(fmt::format("{}: it is {}, so it is no recording; {}", file.string(), kind.what,
                              fmt::format(fmt::runtime(kind.remedy), shell_word(file.string()))));
}

/// Says what a file is that is no recording: another file of shiplap, or JSON of another program.
void refuse_other_format(const fs::path& file) {
  std::error_code unknown;
  if (fs::file_size(file, unknown) > limits::document_bytes) return;
  const std::string text = read_text_file(file.string());
  const std::string schema = schema_of_text(text);
  if (!schema.empty() && schema != formats::recording.schema)
    refuse_format(file.string(), schema, formats::recording.schema);
  if (schema.empty() && Json::accept(text))
    throw Error(
        fmt::format("{}: it is JSON, but no recording of `shiplap advise` and no trace, because it has no "
                    "`traceEvents`; a trace of the PyTorch profiler is written by export_chrome_trace",
                    file.string()));
}

/// What was read of a pipe cannot be read again, so no more than its first byte is looked at.
Recording read_pipe(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error(fmt::format("{}: it cannot be read", file.string()));
  constexpr char begin_of_sqlite = 'S';
  constexpr char begin_of_gzip = 0x1f;
  const int first = in.peek();
  refuse_program(file, first);
  if (first == begin_of_sqlite || first == begin_of_gzip)
    throw Error(
        fmt::format("{}: it begins as no recording does, and exports of nsys and files compressed with gzip are read "
                    "only from a regular file; write it into a file and give that one",
                    file.string()));
  return read_recording(in, file.string());
}

Recording read_file_of_text(const fs::path& file) {
  if (begins_trace(read_block(*open_text(file), begin_bytes, file.string()))) return read_torch_trace(file);
  try {
    return read_recording(*open_text(file), file.string());
  } catch (const Error&) {
    refuse_other_format(file);
    throw;
  }
}

}  // namespace

Recording read_recording_file(const fs::path& file) {
  std::error_code unknown;
  if (!fs::exists(file, unknown))
    throw Error(
        fmt::format("{0}: there is no such file; to record a program, write `shiplap advise -- {0}`", file.string()));
  if (!fs::is_regular_file(file, unknown)) return read_pipe(file);
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error(fmt::format("{}: it cannot be read", file.string()));
  const std::string begin = read_block(in, begin_bytes, file.string());
  constexpr std::string_view sqlite = "SQLite format 3";
  if (begin.starts_with(sqlite)) return read_nsys(file);
  if (!begin.empty()) refuse_program(file, begin.front());
  refuse_unreadable(file, begin);
  return read_file_of_text(file);
}

}  // namespace shiplap
