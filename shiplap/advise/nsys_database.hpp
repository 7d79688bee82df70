// The database of a report that Nsight Systems has exported: its tables, row by row.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace shiplap {

/// A row of a table. Each read takes the next column.
class NsysRow {
 public:
  /// The row at which the statement is.
  explicit NsysRow(sqlite3_stmt* statement) : statement_(statement) {}

  std::int64_t integer(std::int64_t if_null = 0);                           ///< a number that may be negative
  std::uint64_t count() { return static_cast<std::uint64_t>(integer()); }   ///< a number of 64 bits
  std::uint32_t number() { return static_cast<std::uint32_t>(integer()); }  ///< a number of 32 bits
  std::string text();                                                       ///< a text; "" for null
  std::uint64_t text_bytes() const { return text_bytes_; }                  ///< bytes of all texts that were read

 private:
  sqlite3_stmt* statement_;
  int next_ = 0;
  std::uint64_t text_bytes_ = 0;
};

/// The file, which is only read. Each function throws Error when the file is no export of Nsight Systems. The file may
/// be damaged or made to harm: a view or virtual table in place of a table is refused, because it can have rows without
/// end, a generated column counts as absent, and a table is refused that gives more rows than the file has bytes for.
class NsysDatabase {
 public:
  /// Names of columns.
  using Columns = std::vector<std::string>;
  /// Takes a row.
  using Use = std::function<void(NsysRow&)>;

  /// Throws Error when the file cannot be opened.
  explicit NsysDatabase(const std::filesystem::path& file);

  /// Whether there is such a table.
  bool has(const std::string& table) const { return !columns_of(table).empty(); }
  /// Whether the table has this column.
  bool has(const std::string& table, const std::string& column) const { return columns_of(table).contains(column); }
  /// Calls `use` for each row of the table, in no order; the row has these columns. SQLite does not sort the rows: it
  /// would copy all that they say before it gives the first one, and a file can have many rows say one long text.
  /// Throws Error that names a column that is missing.
  void read(const std::string& table, const Columns& columns, const Use& use) const;
  /// Throws Error unless these texts are few bytes for a file of this size (`limits::name_bytes`).
  void require_few(std::uint64_t text_bytes, const std::string& what) const;
  /// Throws Error: what is the case, and what to do about it.
  [[noreturn]] void fail(const std::string& what, const std::string& remedy) const;
  /// Throws Error: what is the case, and how to export a report.
  [[noreturn]] void fail_as_no_export(const std::string& what) const;

 private:
  struct Close {
    void operator()(sqlite3*) const;
    void operator()(sqlite3_stmt*) const;
  };

  void query(const std::string& sql, const Use&) const;
  std::set<std::string> columns_of(const std::string& table) const;
  bool is_stored(const std::string& table) const;

  std::string file_;
  std::uint64_t size_ = 0;  // bytes of the file
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace shiplap
