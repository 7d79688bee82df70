#include "tests/architecture/plain_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

namespace shiplap {
namespace {

struct Phrase {
  std::string_view text;  ///< in lower case; a * at the end stands for any rest of the last word
  std::string_view say;   ///< what to say instead
};

constexpr Phrase phrases[]{
    // Terms.
    {"page-lock*", "pinned, to pin"},
    {"page lock*", "pinned, to pin"},
    {"page_lock*", "pinned, to pin"},
    {"queue", "stream"},
    {"queues", "streams"},
    {"under way", "in flight"},
    {"multiprocessor", "SM"},
    {"multiprocessors", "SMs"},
    {"both ways", "duplex, or in both directions"},
    {"both directions at once", "duplex"},
    {"engine model", "simulation; an engine is a copy engine"},
    {"engine's word", "simulated time"},
    {"engine's prediction", "simulated time"},
    {"engine's range", "prediction interval of the simulation"},
    {"engine's ranges", "prediction intervals of the simulation"},
    {"predicted range", "prediction interval"},
    {"predicted ranges", "prediction intervals"},
    {"ranges of predictions", "prediction intervals"},
    {"accesses in turn", "dependent loads"},
    {"reads in turn", "dependent loads"},
    {"far reads", "translation misses"},
    {"reach into host memory", "zero-copy"},
    {"reaches into host memory", "zero-copy"},
    // Names that needed their comment.
    {"accesses_in_turn", "dependent_loads"},
    {"room_of_block", "max_blocks_per_sm"},
    {"farreads", "TranslationMissPenalty"},
    {"as_if_near", "effective_bytes_in_flight"},
    {"thread_work", "serial_thread_time"},
    // Sentences that must be decoded.
    {"so many", "the number, by its name"},
    {"such that", "so that, or a sentence of its own"},
    {"hang on", "depend on"},
    {"hangs on", "depends on"},
    {"means nothing to", "is ignored by"},
    {"is taken as", "is assumed to be"},
    {"are taken as", "are assumed to be"},
    {"as not at all", "assuming 0"},
    {"what of it", "the part, by its name"},
    // Sentences that lean on another one.
    {"likewise", "the sentence again, with its subject"},
    {"see above", "a link, or the name of the thing"},
};

/// A comment that begins so has no subject.
constexpr std::string_view without_subject = "of ";

struct Exception {
  std::string_view path;  ///< empty: every file
  std::string_view text;  ///< words around the phrase, in lower case
  std::size_t most;       ///< number of times that a file may say this; 0: any
};

constexpr Exception exceptions[]{
    // The glossary names each word that it replaces once.
    {"docs/glossary.md", "page-locked", 1},
    {"docs/glossary.md", "streaming multiprocessor", 1},
    // CUDA's own terms.
    {"", "hardware queue", 0},
    {"", "hardware queues", 0},
};

bool is_code(std::string_view path) {
  constexpr std::array<std::string_view, 5> kinds{".hpp", ".cpp", ".cuh", ".cu", ".h"};
  return std::ranges::any_of(kinds, [&](std::string_view kind) { return path.ends_with(kind); });
}

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The text in lower case without markers of comments and repeated spaces, so that phrases go on from line to line.
struct Flat {
  std::string text;
  std::vector<std::size_t> line;      ///< of each character, from 1
  std::vector<std::size_t> comments;  ///< positions at which a comment begins

  void add(char c, std::size_t number) {
    if (c == ' ' && (text.empty() || text.back() == ' ')) return;
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    line.push_back(number);
  }
};

Flat flattened(const SourceFile& file) {
  const bool code = is_code(file.path);
  Flat flat;
  bool in_comment = false;  // the line before is a comment, or ends with one
  std::size_t number = 0;
  for (std::size_t at = 0; at < file.text.size();) {
    const std::size_t end = std::min(file.text.find('\n', at), file.text.size());
    std::string_view line(file.text.data() + at, end - at);
    at = end + 1;
    ++number;
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.starts_with("#include")) line = {};
    const std::size_t mark = code ? line.find("//") : std::string_view::npos;
    const bool comment = mark != std::string_view::npos && (mark == 0 || line[mark - 1] != ':');
    for (const char c : line.substr(0, comment ? mark : line.size())) flat.add(c == '\t' ? ' ' : c, number);
    if (comment) {
      std::string_view words = line.substr(mark);
      words.remove_prefix(std::min(words.find_first_not_of("/<! "), words.size()));
      const bool goes_on = in_comment && mark == 0;
      flat.add(' ', number);
      if (!goes_on) flat.comments.push_back(flat.text.size());
      for (const char c : words) flat.add(c, number);
    }
    in_comment = comment;
    flat.add(' ', number);
  }
  return flat;
}

/// Whether an exception covers the phrase at [begin, end). `said` counts how often the file has used each exception.
bool is_excepted(const SourceFile& file, const Flat& flat, std::size_t begin, std::size_t end,
                 std::map<std::string_view, std::size_t>& said) {
  for (const Exception& e : exceptions) {
    if (!e.path.empty() && e.path != file.path) continue;
    const std::size_t from = begin < e.text.size() ? 0 : begin - e.text.size();
    const std::size_t found = flat.text.find(e.text, from);
    if (found == std::string::npos || found > begin || found + e.text.size() < end) continue;
    if (e.most == 0 || ++said[e.text] <= e.most) return true;
  }
  return false;
}

std::string violation(const SourceFile& file, std::size_t line, std::string_view said, std::string_view instead) {
  return file.path + ":" + std::to_string(line) + ": says \"" + std::string(said) +
         "\"; say instead: " + std::string(instead);
}

void check_phrases(const SourceFile& file, const Flat& flat, std::vector<std::string>& out) {
  std::map<std::string_view, std::size_t> said;
  for (const Phrase& phrase : phrases) {
    const bool prefix = phrase.text.ends_with('*');
    const std::string_view text = phrase.text.substr(0, phrase.text.size() - (prefix ? 1 : 0));
    for (std::size_t at = flat.text.find(text); at != std::string::npos; at = flat.text.find(text, at + 1)) {
      std::size_t end = at + text.size();
      while (prefix && end < flat.text.size() && is_of_word(flat.text[end])) ++end;
      if (at > 0 && is_of_word(flat.text[at - 1])) continue;
      if (end < flat.text.size() && is_of_word(flat.text[end])) continue;
      if (!is_excepted(file, flat, at, end, said))
        out.push_back(violation(file, flat.line[at], flat.text.substr(at, end - at), phrase.say));
    }
  }
}

}  // namespace

std::vector<std::string> plain_word_violations(std::span<const SourceFile> files) {
  std::vector<std::string> out;
  for (const SourceFile& file : files) {
    const Flat flat = flattened(file);
    check_phrases(file, flat, out);
    for (const std::size_t at : flat.comments)
      if (flat.text.compare(at, without_subject.size(), without_subject) == 0)
        out.push_back(violation(file, flat.line[at], "Of …", "a sentence or phrase that begins with its subject"));
  }
  return out;
}

}  // namespace shiplap
