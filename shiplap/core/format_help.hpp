// What the files of shiplap are in words, and which command takes them: for whoever gave a command another kind of
// file.
#pragma once

#include <string>
#include <string_view>

namespace shiplap {

/// "a plan of a job (shiplap/plan)"; for a schema that is none of `file_formats` the schema alone.
std::string described_format(std::string_view schema);

/// What to do with a file of this schema, as in "shiplap advise a.jsonl reads it"; "" where no command takes it.
std::string use_of_format(std::string_view schema, std::string_view file);

/// The schema of a text: of the whole where it is one value, or of the first line where each line is a value of its
/// own;
/// "" where it names none, or is no JSON.
std::string schema_of_text(std::string_view text);

/// Throws Error that says what a text is that is no JSON as a whole; returns where its first line names no schema.
void refuse_lines(std::string_view text, const std::string& source);
/// Throws Error that says what a file is, what was wanted, and what to do with the file.
[[noreturn]] void refuse_format(const std::string& file, std::string_view schema, std::string_view wanted);

}  // namespace shiplap
