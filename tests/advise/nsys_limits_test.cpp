// Databases that are made to harm whoever imports them.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/advise/nsys_export.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;

class NsysLimits : public nsys_export::NsysExport {
 protected:
  std::string error_of(const std::string& statements) {
    sql(statements);
    return error();
  }
};

TEST_F(NsysLimits, a_view_with_rows_without_end_is_no_table) {
  EXPECT_THAT(error_of("CREATE VIEW StringIds AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) "
                       "SELECT id, 'x' AS value FROM n;"),
              HasSubstr("it is no export of Nsight Systems: it has no table StringIds"));
}

TEST_F(NsysLimits, a_column_that_is_computed_counts_as_absent) {
  EXPECT_THAT(error_of("CREATE TABLE StringIds (id INTEGER, value TEXT AS (hex(zeroblob(400000000))));"
                       "INSERT INTO StringIds (id) VALUES (1);"),
              HasSubstr("table StringIds has no column value"));
}

// A column that is added later costs nothing in the rows that are there, and its default is read in each of them.
TEST_F(NsysLimits, a_long_default_that_many_rows_share_is_not_read_for_each_of_them) {
  const std::string text = "TEXT DEFAULT '" + std::string(900'000, '1') + "'";
  const std::string rows = "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n LIMIT 20000) INSERT INTO ";
  EXPECT_THAT(error_of("CREATE TABLE StringIds (id INTEGER);" + rows + "StringIds SELECT id FROM n;" +
                       "ALTER TABLE StringIds ADD COLUMN value " + text + ";"),
              HasSubstr("column value of table StringIds has a default of more than 64 B"));
}

TEST_F(NsysLimits, a_long_default_is_neither_sorted_nor_converted_for_each_row) {
  all_tables();
  sql("CREATE TABLE other AS SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME; DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME;"
      "ALTER TABLE other DROP COLUMN start; ALTER TABLE other RENAME TO CUPTI_ACTIVITY_KIND_RUNTIME;"
      "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN start TEXT DEFAULT '" +
      std::string(900'000, '1') + "';");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(error(), HasSubstr("column start of table CUPTI_ACTIVITY_KIND_RUNTIME has a default of more than 64 B"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST_F(NsysLimits, a_pipe_is_not_waited_for) {
  ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
  EXPECT_THAT(error(), HasSubstr("it cannot be read as a file"));
}

// What lies beside a file is not read, and nothing is written there.
TEST_F(NsysLimits, journals_beside_the_file_are_neither_followed_nor_made) {
  all_tables();
  kernel(9, "k", 0, 1);
  sql("PRAGMA journal_mode=WAL;");
  for (const char* end : {"-wal", "-shm", "-journal"}) std::filesystem::remove(file().string() + end);
  ASSERT_EQ(mkfifo((file().string() + "-journal").c_str(), 0600), 0);
  EXPECT_EQ(read().records.size(), 1u);
  for (const char* end : {"-wal", "-shm"}) EXPECT_FALSE(std::filesystem::exists(file().string() + end)) << end;
}

TEST_F(NsysLimits, names_of_files_are_no_options_of_sqlite) {
  all_tables();
  kernel(9, "k", 0, 1);
  const std::filesystem::path odd = file().parent_path() / "a?mode=rwc&b%20c#d.sqlite";
  std::filesystem::copy_file(file(), odd);
  EXPECT_EQ(read_nsys(odd).records.size(), 1u);
}

/// Page `number` of a file with pages of 512 bytes.
char* page_of(std::string& file, std::uint32_t number) { return file.data() + std::size_t{512} * (number - 1); }
std::uint32_t big_endian(const char* bytes, int count) {
  std::uint32_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}
/// Has all pointers of an inner page lead to one page (sqlite.org/fileformat2.html, B-tree pages).
void lead_all_to(char* inner, std::uint32_t page) {
  const auto point = [&](char* pointer) {
    for (int i = 0; i < 4; ++i) pointer[i] = static_cast<char>(page >> (24 - 8 * i));
  };
  for (std::uint32_t cell = 0; cell < big_endian(inner + 3, 2); ++cell)
    point(inner + big_endian(inner + 12 + 2 * cell, 2));
  point(inner + 8);
}

/// Makes the inner page at `root` reach its first leaf again and again: as often as the square of its children.
void reach_first_leaf_again_and_again(const std::filesystem::path& file, std::uint32_t root) {
  std::stringstream content;
  content << std::ifstream(file, std::ios::binary).rdbuf();
  std::string bytes = content.str();
  constexpr int inner_page = 5;
  ASSERT_EQ(page_of(bytes, root)[0], inner_page);
  const auto child = [&](std::uint32_t cell) {
    return big_endian(page_of(bytes, root) + big_endian(page_of(bytes, root) + 12 + 2 * cell, 2), 4);
  };
  const std::uint32_t leaf = child(0);
  const std::uint32_t between = child(1);
  std::copy_n(page_of(bytes, root), 512, page_of(bytes, between));
  lead_all_to(page_of(bytes, between), leaf);
  lead_all_to(page_of(bytes, root), between);
  std::ofstream(file, std::ios::binary) << bytes;
}

TEST_F(NsysLimits, pages_that_are_reached_again_and_again_give_no_more_rows_than_fit_into_the_file) {
  sql("PRAGMA page_size = 512; CREATE TABLE StringIds (id INTEGER, value TEXT);"
      "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n LIMIT 3000) "
      "INSERT INTO StringIds SELECT NULL, NULL FROM n;");
  reach_first_leaf_again_and_again(file(), 2);  // the root of the first table
  EXPECT_THAT(error(), HasSubstr("a table gives more rows than the file has bytes for"));
}

// A table is read in the order of its times. To sort its rows SQLite would copy this text thousands of times, into
// files.
TEST_F(NsysLimits, a_long_text_that_many_rows_share_is_neither_sorted_nor_converted_for_each_of_them) {
  const std::string text = "'" + std::string(900'000, '0') + "'";
  for (const bool is_time : {false, true}) {
    std::filesystem::remove(file());
    sql("PRAGMA page_size = 512; CREATE TABLE NVTX_EVENTS (start, end INTEGER, eventType INTEGER, text TEXT, "
        "globalTid INTEGER, textId INTEGER); CREATE TABLE StringIds (id INTEGER, value TEXT);"
        "INSERT INTO NVTX_EVENTS VALUES (" +
        std::string(is_time ? text : "1") + ", 2, 59, " + std::string(is_time ? "'range'" : text) +
        ", 1, NULL);"
        "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n LIMIT 1200) "
        "INSERT INTO NVTX_EVENTS SELECT 1, 2, 59, NULL, NULL, NULL FROM n;");
    reach_first_leaf_again_and_again(file(), 2);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THAT(error(), HasSubstr("the texts of a table have more than")) << is_time;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  }
}

}  // namespace
}  // namespace shiplap
