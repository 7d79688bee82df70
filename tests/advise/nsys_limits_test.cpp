// Databases that are made to harm whoever imports them.
#include <gmock/gmock.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>

#include "shiplap/advise/nsys.hpp"
#include "tests/support/message_of.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class NsysLimits : public ::testing::Test {
 protected:
  NsysLimits() {
    std::string name = (fs::temp_directory_path() / "shiplap-nsys-limits-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw Error("no temporary folder");
    folder_ = name;
  }
  ~NsysLimits() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string error_of(const std::string& statements) const {
    const fs::path file = folder_ / "report.sqlite";
    sqlite3* database = nullptr;
    char* error = nullptr;
    sqlite3_open(file.c_str(), &database);
    sqlite3_exec(database, statements.c_str(), nullptr, nullptr, &error);
    EXPECT_EQ(error, nullptr) << error;
    sqlite3_free(error);
    sqlite3_close(database);
    return message_of([&] { read_nsys(file); });
  }

 private:
  fs::path folder_;
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

TEST_F(NsysLimits, texts_far_larger_than_the_file_are_refused) {
  // A column that is added later costs nothing in the rows that are there.
  const std::string text(500'000, 'x');
  EXPECT_THAT(error_of("CREATE TABLE StringIds (id INTEGER);"
                       "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n LIMIT 2000) "
                       "INSERT INTO StringIds SELECT id FROM n;"
                       "ALTER TABLE StringIds ADD COLUMN value TEXT DEFAULT '" +
                       text + "';"),
              HasSubstr("the texts of a table have more than"));
}

}  // namespace
}  // namespace shiplap
