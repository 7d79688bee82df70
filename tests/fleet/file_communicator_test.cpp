#include "shiplap/fleet/file_communicator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "shiplap/core/error.hpp"
#include "shiplap/core/formats.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {
namespace {

namespace fs = std::filesystem;

class FileRanksTest : public ::testing::Test {
 protected:
  std::unique_ptr<FileCommunicator> rank(std::size_t number, std::size_t size = 4) const {
    return std::make_unique<FileCommunicator>(shared, "run", number, size);
  }
  static Deadline soon() { return Deadline(steady_time() + Seconds{5}); }
  static Deadline now() { return Deadline(steady_time()); }
  TemporaryFolder temporary;
  fs::path shared = temporary.path();
};

TEST_F(FileRanksTest, messages_arrive_in_order_and_once) {
  const auto zero = rank(0);
  const auto one = rank(1);
  for (int i = 0; i < 20; ++i) one->send(0, "text " + std::to_string(i));
  for (int i = 0; i < 20; ++i) {
    const auto message = zero->receive(soon());
    ASSERT_TRUE(message);
    EXPECT_EQ(message->from, 1u);
    EXPECT_EQ(message->text, "text " + std::to_string(i));
  }
  EXPECT_FALSE(zero->receive(now()));
}

TEST_F(FileRanksTest, a_pipe_in_the_folder_is_no_message_and_blocks_nobody) {
  const auto zero = rank(0);
  const auto one = rank(1);
  ASSERT_EQ(mkfifo((shared / "run" / "to-0" / "1-000000000000").c_str(), 0600), 0);
  one->send(0, "replaces the pipe");
  ASSERT_EQ(mkfifo((shared / "run" / "to-0" / "2-000000000000").c_str(), 0600), 0);
  one->send(0, "after it");
  EXPECT_EQ(zero->receive(soon())->text, "replaces the pipe");
  EXPECT_EQ(zero->receive(soon())->text, "after it");
  EXPECT_FALSE(zero->receive(now()));
}

TEST_F(FileRanksTest, a_message_is_received_while_it_is_waited_for) {
  const auto zero = rank(0);
  const std::jthread sender([&] {
    sleep_for(milliseconds(100));
    rank(3)->send(0, "late");
  });
  const auto message = zero->receive(soon());
  ASSERT_TRUE(message);
  EXPECT_EQ(message->from, 3u);
}

TEST_F(FileRanksTest, the_last_rank_removes_the_folder_of_the_run) {
  auto zero = rank(0);
  auto one = rank(1);
  one->send(0, "not received");
  zero->send(1, "not received");
  zero.reset();
  EXPECT_TRUE(fs::exists(shared / "run"));
  one.reset();
  EXPECT_TRUE(fs::is_empty(shared));
}

TEST_F(FileRanksTest, what_was_sent_to_a_dead_rank_is_removed_and_its_return_is_an_error) {
  auto zero = rank(0);
  auto late = rank(2);
  zero->send(2, "end");
  zero->abandon(2);
  zero.reset();
  EXPECT_TRUE(fs::is_empty(shared));
  EXPECT_NE(message_of([&] { late->send(0, "here I am"); }).find("the run may be over"), std::string::npos);
  EXPECT_NE(message_of([&] { late->receive(soon()); }).find("that the run is over"), std::string::npos);
}

TEST_F(FileRanksTest, a_file_that_is_not_finished_is_no_message) {
  const auto zero = rank(0);
  std::ofstream(shared / "run" / "to-0" / "unfinished-1-000000000000") << "half";
  std::ofstream(shared / "run" / "to-0" / "notes") << "of an administrator";
  EXPECT_FALSE(zero->receive(now()));
}

TEST_F(FileRanksTest, ranks_that_do_not_exist_and_folders_that_cannot_be_made_are_refused) {
  EXPECT_NE(message_of<UsageError>([&] { rank(4); }).find("rank 4 of 4"), std::string::npos);
  std::ofstream(shared / "file") << "";
  EXPECT_NE(
      message_of([&] { FileCommunicator(shared / "file", "run", 0, 1); }).find("name one that all ranks can write"),
      std::string::npos);
}

TEST_F(FileRanksTest, a_message_that_cannot_be_written_is_an_error_that_names_its_file) {
  const auto zero = rank(0);
  const auto one = rank(1);
  fs::create_directory(shared / "run" / "to-0" / "unfinished-1-000000000000");
  const std::string message = message_of([&] { one->send(0, "text"); });
  EXPECT_NE(message.find("rank 1 cannot send to rank 0"), std::string::npos) << message;
  EXPECT_NE(message.find("to-0/1-000000000000 cannot be written"), std::string::npos) << message;
  one->send(0, "next");
  EXPECT_EQ(zero->receive(soon())->text, "next");
}

// A message that no rank reads would stand before all later ones for ever.
TEST_F(FileRanksTest, a_message_that_is_too_long_is_not_sent_and_one_of_others_is_refused_once) {
  const auto zero = rank(0);
  const auto one = rank(1);
  const std::string too_long(limits::document_bytes + 1, ' ');
  EXPECT_THAT(message_of([&] { one->send(0, too_long); }), ::testing::HasSubstr("a message of rank 1 to rank 0"));
  one->send(0, too_long.substr(1));
  EXPECT_EQ(zero->receive(soon())->text.size(), limits::document_bytes);
  std::ofstream(shared / "run" / "to-0" / "1-000000000001") << too_long;
  EXPECT_THROW(zero->receive(soon()), Error);
  one->send(0, "after it");
  EXPECT_EQ(zero->receive(soon())->text, "after it");
}

TEST_F(FileRanksTest, an_inbox_that_cannot_be_read_is_an_error_and_no_end_of_the_run) {
  const auto zero = rank(0);
  const fs::path inbox = shared / "run" / "to-0";
  fs::remove(inbox);
  std::ofstream(inbox) << "no folder any more";
  const std::string message = message_of([&] { zero->receive(now()); });
  EXPECT_NE(message.find("rank 0 cannot receive from " + inbox.string()), std::string::npos) << message;
  EXPECT_EQ(message.find("the run is over"), std::string::npos) << message;
}

}  // namespace
}  // namespace shiplap
