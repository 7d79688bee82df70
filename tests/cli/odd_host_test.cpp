// The program on hosts that lack what it usually finds: files of the kernel, streams, folders, memory, a clock that
// goes forward.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>

#include "tests/cli/program.hpp"
#include "tests/support/comma_locale.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHIPLAP_TEST_IS_SANITIZED true
#else
#define SHIPLAP_TEST_IS_SANITIZED false
#endif

namespace shiplap {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string small_plan = "plan saxpy:n=1Mi --device virtual:h200 --chunks 4";

class OddHost : public Cli {
 protected:
  /// Runs a script of sh, in which $SHIPLAP is the program, in the folder of the test.
  Outcome sh(const std::string& script) const {
    write("script", "SHIPLAP='" SHIPLAP_PROGRAM "'\ncd '" + folder.string() + "'\n" + script + "\n");
    return run("/bin/bash", "'" + (folder / "script").string() + "'");
  }
  /// As `sh`, in a mount namespace of its own.
  Outcome with_mounts(const std::string& script) const { return sh("exec unshare -m /bin/bash -ec '" + script + "'"); }
};

/// The text on one line, as it was before it was wrapped to the terminal.
std::string unwrapped(const std::string& text) {
  std::string line;
  for (const char c : text)
    if (c != ' ' && c != '\n')
      line += c;
    else if (!line.ends_with(' '))
      line += ' ';
  return line;
}

TEST_F(OddHost, without_proc_and_sys_plans_runs_checks_and_measures) {
  if (SHIPLAP_TEST_IS_SANITIZED) GTEST_SKIP() << "sanitizers read /proc";
  if (with_mounts("mount -t tmpfs none /sys").code != 0) GTEST_SKIP() << "nothing can be mounted here";
  const std::string hidden = "mount -t tmpfs none /sys; mount -t tmpfs none /proc; '" SHIPLAP_PROGRAM "' ";
  for (const std::string& command :
       {std::string("devices"), small_plan, std::string("run saxpy:n=64Ki --device virtual:h200 --chunks 2"),
        std::string("check --device virtual:h200 --budget 100s"),
        std::string("measure --device virtual:h200 --quick --only launch.gap -o profile.json")})
    EXPECT_EQ(with_mounts(hidden + command).code, 0) << command;
  for (const char* command : {"reproduce harris2012", "fleet check --device virtual:h200", "advise -- true"})
    EXPECT_THAT(with_mounts(hidden + command).err, AllOf(HasSubstr("/proc/self/exe"), HasSubstr("shiplap: ")))
        << command;
}

TEST_F(OddHost, with_closed_streams_writes_files_without_what_would_be_printed) {
  const std::string adaptive =
      "$SHIPLAP run histogram:frames=32,width=176,height=144 --adaptive --frames 320 --device virtual:h200 --log "
      "log";
  for (const char* closed : {">&-", "2>&-", "<&-", ">&- 2>&- <&-"}) {
    sh(adaptive + " " + closed);
    EXPECT_EQ(shiplap("replay '" + (folder / "log").string() + "'").code, 0) << closed;
    sh(std::string("$SHIPLAP measure --device virtual:h200 --quick --only launch.gap -o profile.json ") + closed);
    EXPECT_EQ(shiplap("profiles show '" + (folder / "profile.json").string() + "'").code, 0) << closed;
  }
  EXPECT_EQ(parsed(sh("$SHIPLAP check --device virtual:h200 --budget 100s --json 2>&- <&-")).at("schema"),
            "shiplap/check");
}

TEST_F(OddHost, without_stderr_keeps_its_exit_codes) {
  for (const char* lost : {"2>&-", "2>/dev/full"}) {
    EXPECT_EQ(sh(std::string("$SHIPLAP plan ") + lost).code, 64) << lost;
    EXPECT_EQ(sh(std::string("$SHIPLAP plan --no-such-flag ") + lost).code, 64) << lost;
    EXPECT_EQ(sh(std::string("$SHIPLAP profiles show /nowhere.json ") + lost).code, 1) << lost;
    EXPECT_EQ(sh("$SHIPLAP " + small_plan + " --memory pageable --reuse 1000 " + lost).code, 0) << lost;
  }
}

TEST_F(OddHost, without_an_environment_works_and_keeps_nothing) {
  const Outcome planned = sh("env -i $SHIPLAP tune saxpy:n=64Ki --device virtual:h200 --race 5ms");
  EXPECT_EQ(planned.code, 0) << planned.err;
  EXPECT_THAT(planned.out, HasSubstr("neither XDG_CACHE_HOME nor HOME"));
  EXPECT_EQ(sh("HOME= XDG_CACHE_HOME=relative $SHIPLAP profiles").code, 0);
}

TEST_F(OddHost, with_a_pipe_in_its_cache_says_so_and_goes_on) {
  fs::create_directories(folder / "cache" / "shiplap");
  ASSERT_EQ(mkfifo((folder / "cache" / "shiplap" / "mine.json").c_str(), 0600), 0);
  const Outcome listed = sh("timeout 20 $SHIPLAP profiles");
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_THAT(unwrapped(listed.err), AllOf(HasSubstr("mine.json"), HasSubstr("it is a pipe")));
  expect_refused(sh("timeout 20 $SHIPLAP plan saxpy:n=64Ki --profile mine"), 1, {"mine.json", "it is a pipe"});
  const std::string tune = "timeout 60 $SHIPLAP tune saxpy:n=64Ki --device virtual:h200 --race 5ms";
  EXPECT_THAT(sh(tune).out, HasSubstr("kept in"));
  for (const fs::path& race : fs::directory_iterator(folder / "cache" / "shiplap" / "races"))
    if (race.extension() == ".json") {
      fs::remove(race);
      ASSERT_EQ(mkfifo(race.c_str(), 0600), 0);
    }
  const Outcome raced = sh(tune);
  EXPECT_EQ(raced.code, 0) << raced.err;
  EXPECT_THAT(unwrapped(raced.out), HasSubstr("it is a pipe"));
}

TEST_F(OddHost, with_a_pipe_in_place_of_what_a_measurement_left_says_so) {
  ASSERT_EQ(mkfifo((folder / "p.json.partial").c_str(), 0600), 0);
  const std::string measure = "timeout 60 $SHIPLAP measure --device virtual:h200 --quick --only launch.gap -o p.json";
  expect_refused(sh(measure + " --resume"), 1, {"p.json.partial", "not a regular file"});
}

TEST_F(OddHost, without_a_folder_for_temporary_files_says_so) {
  const Outcome refused = sh("TMPDIR=/nowhere $SHIPLAP advise -- true");
  expect_refused(refused, 1, {"folder for temporary files", "set TMPDIR"});
  EXPECT_EQ(sh("TMPDIR=/nowhere $SHIPLAP " + small_plan).code, 0);
}

TEST_F(OddHost, on_a_terminal_without_colours_prints_none) {
  const auto on_terminal = [&](const std::string& kind) {
    return sh(kind + " script -qec \"$SHIPLAP " + small_plan + "\" /dev/null").out;
  };
  const std::string coloured = on_terminal("TERM=xterm");
  if (coloured.find("\x1b[1m") == coloured.npos) GTEST_SKIP() << "script makes no terminal here";
  EXPECT_THAT(on_terminal("TERM=dumb"), AllOf(HasSubstr("hybrid"), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(on_terminal("env -u TERM"), AllOf(HasSubstr("hybrid"), Not(HasSubstr("\x1b"))));
}

TEST_F(OddHost, on_a_terminal_breaks_errors_at_its_width_and_elsewhere_keeps_them_in_one_line) {
  const std::string wrong = "plan saxpy --profile nothing";
  const std::string said = shiplap(wrong).err;
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
  EXPECT_GT(said.size(), 100u) << said;
  std::string shown = sh("COLUMNS=70 script -qec \"$SHIPLAP " + wrong + "\" /dev/null").out;
  std::erase(shown, '\r');
  if (shown.empty()) GTEST_SKIP() << "script makes no terminal here";
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 70u) << line;
  EXPECT_THAT(unwrapped(shown), HasSubstr(said.substr(0, said.size() - 1)));
}

TEST_F(OddHost, reads_and_writes_files_of_any_name) {
  for (const std::string name :
       {"with space", "quo'te\"s", "line\nbreak", "\xff\xfe", "-dash", "$(touch planted)", "über"}) {
    fs::create_directories(folder / name);
    const fs::path profile = folder / name / (name + ".json");
    fs::copy_file(SHIPLAP_SOURCE_DIR "/profiles/h200.json", profile);
    std::string quoted = profile.string();
    for (auto at = quoted.find('\''); at != quoted.npos; at = quoted.find('\'', at + 4)) quoted.replace(at, 1, "'\\''");
    const std::string device = " --device 'virtual:" + quoted + "'";
    for (const std::string& command : {"plan saxpy:n=64Ki --chunks 2 --profile '" + quoted + "'",
                                       "run saxpy:n=64Ki --chunks 2 --strategy streams" + device, "check" + device,
                                       "measure --quick --only launch.gap -o '" + quoted + ".out'" + device})
      parsed(shiplap(command + " --json"));
    const Outcome resumed = shiplap("measure --quick --only launch.gap --resume -o '" + quoted + ".out'" + device);
    EXPECT_EQ(resumed.code, 0) << resumed.err;
  }
  EXPECT_FALSE(fs::exists("planted"));
}

TEST_F(OddHost, in_a_locale_with_a_decimal_comma_prints_and_reads_the_same) {
  const CommaLocale comma;
  if (!comma.is_set()) GTEST_SKIP() << "localedef cannot make a locale here";
  const std::string in_comma = "LC_ALL=comma LOCPATH='" + comma.folder().string() + "' ";
  for (const std::string& command :
       {small_plan + " --json", small_plan + " --ramp 0.5:1:1.25",
        std::string("plan --in 1.5GiB --out 0.5GiB --kernel 1.25ms --profile h100 --chunks 4"),
        small_plan + " --emit cuda"})
    EXPECT_EQ(sh(in_comma + "$SHIPLAP " + command).out, sh("LC_ALL=C $SHIPLAP " + command).out) << command;
}

TEST_F(OddHost, with_one_processor_runs) {
  const Outcome done =
      sh("taskset -c $(taskset -cp $$ | sed \"s/.*: //; s/[-,].*//\") $SHIPLAP run saxpy:n=1Mi --device virtual:h200 "
         "--memory pageable --strategy staged --chunks 4");
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("VERIFIED"));
}

TEST_F(OddHost, with_little_address_space_says_which_limit_it_is) {
  if (SHIPLAP_TEST_IS_SANITIZED) GTEST_SKIP() << "sanitizers need address space of their own";
  const Outcome refused = sh("ulimit -v 1000000; $SHIPLAP run saxpy:n=256Mi --device virtual:h200");
  expect_refused(refused, 1, {"saxpy", "2 GiB", "`ulimit -v`"});
}

TEST_F(OddHost, with_few_descriptors_says_so_or_works) {
  if (SHIPLAP_TEST_IS_SANITIZED) GTEST_SKIP() << "sanitizers look at types of objects through pipes";
  constexpr int not_loaded = 127;  // of the system: a library of the program cannot be opened
  for (const char* few : {"4", "5", "6", "8"})
    for (const char* command : {"check --device virtual:h200 --budget 100s",
                                "plan saxpy:n=64Ki --profile h200 --chunks 2", "fleet check --device virtual:h200"}) {
      const Outcome outcome = sh(std::string("ulimit -n ") + few + "; $SHIPLAP " + command);
      if (outcome.code == 0) continue;
      if (outcome.code == not_loaded) {
        EXPECT_THAT(outcome.err, HasSubstr("cannot open shared object file")) << command << " with " << few;
        continue;
      }
      EXPECT_EQ(outcome.code, 1) << command;
      EXPECT_THAT(outcome.err, HasSubstr("Too many open files")) << command << " with " << few;
    }
}

/// A cgroup of version 1 or 2 with a limit of 96 MiB; empty where none can be made.
class SmallCgroup {
 public:
  SmallCgroup() {
    for (const auto& [parent, limit] :
         {std::pair{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, std::pair{"/sys/fs/cgroup", "memory.max"}}) {
      const fs::path made = fs::path(parent) / ("shiplap-test-" + std::to_string(getpid()));
      if (mkdir(made.c_str(), 0755) != 0) continue;
      path = made;
      if (fs::exists(made / limit) && std::ofstream(made / limit) << (96 << 20) << std::flush) return;
      rmdir(path.c_str());
      path.clear();
    }
  }
  ~SmallCgroup() {
    for (int i = 0; i < 50 && !path.empty() && rmdir(path.c_str()) != 0; ++i) usleep(20000);
  }
  SmallCgroup(const SmallCgroup&) = delete;
  SmallCgroup& operator=(const SmallCgroup&) = delete;
  fs::path path;
};

TEST_F(OddHost, in_a_small_cgroup_refuses_what_would_be_killed) {
  if (SHIPLAP_TEST_IS_SANITIZED) GTEST_SKIP() << "sanitizers need memory of their own";
  const SmallCgroup cgroup;
  if (cgroup.path.empty()) GTEST_SKIP() << "no cgroup can be made here";
  const std::string inside = "echo $$ > '" + cgroup.path.string() + "/cgroup.procs'; $SHIPLAP ";
  expect_refused(sh(inside + "run saxpy:n=64Mi --device virtual:h200"), 1,
                 {"512 MiB", "the memory limit of the cgroup"});
  const Outcome fits = sh(inside + "run saxpy:n=64Ki --device virtual:h200 --chunks 2");
  EXPECT_EQ(fits.code, 0) << fits.err;
}

TEST_F(OddHost, with_a_wall_clock_that_goes_back_ends_in_time_with_the_same_result) {
  if (SHIPLAP_TEST_IS_SANITIZED) GTEST_SKIP() << "a sanitizer wants to be loaded first";
  const std::string back = "LD_PRELOAD='" SHIPLAP_BACKWARD_CLOCK "' timeout 120 $SHIPLAP ";
  const std::string check = (folder / "check.json").string();
  for (const std::string command :
       {"tune saxpy:n=64Ki --device virtual:h200 --race 5ms", "tune saxpy:n=64Ki --device virtual:h200 --race 5ms",
        "check --device virtual:h200 --budget 100s --prometheus metrics.prom",
        "check --device virtual:h200 --json > check.json", "fleet collect check.json --history history",
        "fleet collect check.json --history history", "fleet check --device virtual:h200",
        "measure --device virtual:h200 --quick --only launch.gap -o profile.json",
        "evaluate --device virtual:h200 --sizes 64KiB --strategies explicit --chunks 1 --budget 5s"}) {
    const Outcome done = sh(back + command);
    EXPECT_EQ(done.code, 0) << command << ": " << done.err;
  }
  EXPECT_EQ(sh(back + small_plan).out, sh("$SHIPLAP " + small_plan).out);
}

TEST_F(OddHost, does_not_wait_for_copies_that_a_clock_has_put_far_into_the_future) {
  const Outcome refused = sh("timeout 60 $SHIPLAP fleet copy --device virtual:h200 --begin 99999999999");
  expect_refused(refused, 1, {"--begin", "clock"});
}

TEST_F(OddHost, with_a_driver_library_that_is_none_says_so_and_plans) {
  if (SHIPLAP_TEST_IS_SANITIZED) GTEST_SKIP() << "the library paths of a sanitizer are its own";
  const std::string other = "LD_LIBRARY_PATH='" SHIPLAP_NO_DRIVER "' ";
  const Outcome devices = sh(other + "$SHIPLAP devices");
  EXPECT_EQ(devices.code, 0) << devices.err;
  EXPECT_THAT(unwrapped(devices.out), AnyOf(HasSubstr("built without CUDA"), HasSubstr("is no driver")));
  EXPECT_EQ(sh(other + "$SHIPLAP check --device cuda:0").code, 1);
  EXPECT_EQ(sh(other + "$SHIPLAP " + small_plan).code, 0);
}

}  // namespace
}  // namespace shiplap
