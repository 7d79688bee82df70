#include "shiplap/advise/nsys_database.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <system_error>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "shiplap/core/printable.hpp"
#include "shiplap/core/units.hpp"

namespace shiplap {
namespace {

// A row has at least a length, a number, a header of two bytes, and a pointer of two bytes to it.
constexpr std::uint64_t least_row_bytes = 6;
// SQLite reads the default of a column in each row that lacks it, also to convert it. Exports have none of this length.
constexpr std::int64_t most_default_bytes = 64;

/// The name of a file that nobody changes: SQLite then makes no files beside it, and follows no journal that lies there
/// (sqlite.org/uri.html).
std::string unchanging_uri(const std::filesystem::path& file) {
  std::error_code unknown;
  const std::filesystem::path whole = std::filesystem::absolute(file, unknown);
  std::string uri = "file://";
  for (const char c : (unknown ? file : whole).string())
    uri += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02X}", static_cast<unsigned>(c)) : std::string(1, c);
  return uri + "?immutable=1";
}

}  // namespace

std::int64_t NsysRow::integer(std::int64_t if_null) {
  const int column = next_++;
  const int type = sqlite3_column_type(statement_, column);
  // A text in place of a number is read as a whole to be converted, so it counts as a text.
  if (type == SQLITE_TEXT || type == SQLITE_BLOB)
    text_bytes_ += static_cast<std::uint64_t>(sqlite3_column_bytes(statement_, column));
  return type == SQLITE_NULL ? if_null : sqlite3_column_int64(statement_, column);
}

std::string NsysRow::text() {
  const int column = next_++;
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return "";
  std::string value = reinterpret_cast<const char*>(text);
  text_bytes_ += value.size();
  return printable(value);
}

void NsysDatabase::Close::operator()(sqlite3* database) const { sqlite3_close(database); }
void NsysDatabase::Close::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

NsysDatabase::NsysDatabase(const std::filesystem::path& file) : file_(file.string()) {
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(file, unknown);
  if (unknown)
    fail(fmt::format("it cannot be read as a file ({})", unknown.message()),
         "give the file that `nsys export --type sqlite` has written");
  size_ = size;
  sqlite3* database = nullptr;
  const int status =
      sqlite3_open_v2(unchanging_uri(file).c_str(), &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  database_.reset(database);
  if (status != SQLITE_OK) fail(sqlite3_errmsg(database), "check that the file exists and may be read");
  // sqlite.org/security.html: what the file itself defines calls no function that could do harm.
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, static_cast<int>(limits::line_bytes));
}

void NsysDatabase::fail(const std::string& what, const std::string& remedy) const {
  throw Error(fmt::format("{}: {}, so it cannot be imported; {}", file_, what, remedy));
}

void NsysDatabase::fail_as_no_export(const std::string& what) const {
  fail(what, "export the report of Nsight Systems with `nsys export --type sqlite` and give that file");
}

void NsysDatabase::require_few(std::uint64_t text_bytes, const std::string& what) const {
  const std::uint64_t most = limits::name_bytes(size_);
  if (text_bytes > most)
    fail(fmt::format("{} have more than {}", what, to_string(Bytes{most})), "profile a shorter part of the program");
}

// The first query finds out whether the file is a database.
void NsysDatabase::query(const std::string& sql, const Use& use) const {
  sqlite3_stmt* prepared = nullptr;
  int status = sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &prepared, nullptr);
  const std::unique_ptr<sqlite3_stmt, Close> statement(prepared);
  std::uint64_t rows = 0;
  std::uint64_t text_bytes = 0;
  while (status == SQLITE_OK || status == SQLITE_ROW) {
    status = sqlite3_step(prepared);
    if (status != SQLITE_ROW) break;
    if (++rows > size_ / least_row_bytes)
      fail("a table gives more rows than the file has bytes for", "export the report again");
    NsysRow row(prepared);
    use(row);
    text_bytes += row.text_bytes();
    // A column that was added later has its default in rows that do not hold it.
    if (text_bytes > size_)
      fail(fmt::format("the texts of a table have more than {}, which is all that the file has",
                       to_string(Bytes{size_})),
           "export the report again");
  }
  if (status == SQLITE_NOTADB) fail_as_no_export("it is no SQLite database");
  if (status != SQLITE_DONE) fail(sqlite3_errmsg(database_.get()), "export the report again");
}

std::set<std::string> NsysDatabase::columns_of(const std::string& table) const {
  std::set<std::string> columns;
  if (!is_stored(table)) return columns;
  query(fmt::format("SELECT name, length(dflt_value) FROM pragma_table_info('{}')", table), [&](NsysRow& row) {
    const std::string name = row.text();
    if (row.integer(0) > most_default_bytes)
      fail(fmt::format(
               "column {} of table {} has a default of more than {}, which each row without a value would repeat", name,
               table, to_string(Bytes{most_default_bytes})),
           "export the report again");
    columns.insert(name);
  });
  return columns;
}

bool NsysDatabase::is_stored(const std::string& table) const {
  bool stored = false;
  // Views have another type, and virtual tables no page of the file.
  query(fmt::format("SELECT 1 FROM sqlite_master WHERE name = '{}' AND type = 'table' AND rootpage > 0", table),
        [&](NsysRow&) { stored = true; });
  return stored;
}

void NsysDatabase::read(const std::string& table, const Columns& columns, const Use& use) const {
  // The query of a view is the file's own, and need not end.
  bool named = false;
  query(fmt::format("SELECT 1 FROM sqlite_master WHERE name = '{}' COLLATE NOCASE", table),
        [&](NsysRow&) { named = true; });
  if (!named) return;
  if (!is_stored(table)) fail_as_no_export(fmt::format("{} is no table of data", table));
  const std::set<std::string> present = columns_of(table);
  for (const std::string& column : columns)
    if (!present.contains(column))
      fail(fmt::format("table {} has no column {}", table, column),
           "export the report again with Nsight Systems 2023 or newer: `nsys export --type sqlite`");
  query(fmt::format("SELECT \"{}\" FROM \"{}\"", fmt::join(columns, "\", \""), table), use);
}

}  // namespace shiplap
