// stdout and stderr that are full, closed, or read no further.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/program.hpp"

namespace shiplap {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Output : public Cli {
 protected:
  /// Runs a command of the shell, in which $shiplap is the program.
  Outcome shell(const std::string& command) const {
    return run("/bin/sh", "-c 'shiplap=\"" SHIPLAP_PROGRAM "\"; cd \"" + folder.string() + "\"; " + command + "'");
  }
};

constexpr const char* commands[] = {"profiles show gtx-titan-2014",
                                    "profiles --json",
                                    "--help",
                                    "--version",
                                    "plan --in 1MiB --kernel 1ms --profile gtx-titan-2014 --strategy explicit",
                                    "check --profile h200 --budget 100s"};

TEST_F(Output, that_a_full_disk_refuses_is_an_error) {
  for (const std::string command : commands) {
    const Outcome full = shell("$shiplap " + command + " >/dev/full");
    EXPECT_EQ(full.code, 1) << command;
    EXPECT_THAT(full.err, HasSubstr("stdout cannot be written (No space left on device)")) << command;
  }
}

TEST_F(Output, that_is_closed_is_an_error) {
  for (const std::string command : commands) {
    const Outcome closed = shell("$shiplap " + command + " >&-");
    EXPECT_EQ(closed.code, 1) << command;
    EXPECT_THAT(closed.err, HasSubstr("stdout cannot be written (Bad file descriptor)")) << command;
  }
}

TEST_F(Output, of_which_a_disk_takes_a_part_is_an_error) {
  // The shell counts the largest file in blocks of 512 bytes.
  const Outcome cut = shell("trap \"\" XFSZ; ulimit -f 2; $shiplap profiles show gtx-titan-2014 >out");
  EXPECT_EQ(cut.code, 1);
  EXPECT_THAT(cut.err, HasSubstr("stdout cannot be written (File too large)"));
}

TEST_F(Output, that_is_read_no_further_is_an_error) {
  const Outcome ignoring =
      shell("(trap \"\" PIPE; sleep 0.2; $shiplap profiles show gtx-titan-2014; echo $? >code) | true; cat code");
  EXPECT_EQ(ignoring.out, "1\n");
  EXPECT_THAT(ignoring.err, HasSubstr("stdout cannot be written (Broken pipe)"));
  const Outcome killed = shell("(sleep 0.2; $shiplap profiles show gtx-titan-2014; echo $? >code) | true; cat code");
  EXPECT_EQ(killed.out, "141\n") << "SIGPIPE, as with other programs";
}

TEST_F(Output, has_the_exit_code_of_a_failure_in_the_scheme_that_is_asked_for) {
  EXPECT_EQ(shell("$shiplap check --profile h200 --exit-codes nagios >/dev/full").code, 3);
  EXPECT_EQ(shell("$shiplap check --profile h200 --exit-codes nvsentinel >/dev/full").code, 2);
}

TEST_F(Output, on_a_stderr_that_takes_nothing_changes_no_exit_code) {
  for (const char* nowhere : {"2>/dev/full", "2>&-"}) {
    const auto redirected = [&](const std::string& arguments) {
      return shell("exec " + std::string(nowhere) + "; $shiplap " + arguments);
    };
    EXPECT_EQ(redirected("plan nothing").code, 64) << nowhere;
    EXPECT_EQ(redirected("profiles show nothing.json").code, 1) << nowhere;
    EXPECT_EQ(redirected("profiles show gtx-titan-2014").code, 0) << nowhere;
    // With a note on stderr.
    EXPECT_EQ(redirected("plan saxpy:n=100 --kernel 1ms --profile gtx-titan-2014 --chunks 3").code, 0) << nowhere;
  }
}

TEST_F(Output, on_a_closed_stream_is_not_written_into_a_file_that_is_opened_meanwhile) {
  const std::string command =
      "$shiplap run saxpy:n=64 --kernel 1ms --device virtual:gtx-titan-2014 --adaptive --frames 100 --log log";
  ASSERT_EQ(shell(command).code, 0);
  const std::string log = read(folder / "log");
  ASSERT_EQ(shell(command + " 2>&-").code, 0);
  EXPECT_EQ(read(folder / "log"), log);
  EXPECT_EQ(shell(command + " >&-").code, 1);
  EXPECT_EQ(read(folder / "log"), log);
  EXPECT_THAT(log, Not(HasSubstr("note")));
}

}  // namespace
}  // namespace shiplap
