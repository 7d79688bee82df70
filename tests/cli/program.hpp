// Runs the built program (SHIPLAP_PROGRAM) as a user does and looks at what it prints and how it exits.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "shiplap/core/json.hpp"
#include "tests/support/temporary_folder.hpp"

namespace shiplap {

namespace fs = std::filesystem;

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

class Cli : public ::testing::Test {
 protected:
  /// Runs `shiplap arguments` with an empty cache of its own.
  Outcome shiplap(const std::string& arguments) const { return run(SHIPLAP_PROGRAM, arguments); }
  Outcome run(const fs::path& program, const std::string& arguments) const {
    const std::string command = "COLUMNS=120 XDG_CACHE_HOME='" + (folder / "cache").string() + "' '" +
                                program.string() + "' " + arguments + " 2>'" + (folder / "stderr").string() +
                                "' </dev/null";
    Outcome outcome;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return outcome;
    std::array<char, 4096> piece{};
    for (std::size_t n = 0; (n = fread(piece.data(), 1, piece.size(), pipe)) > 0;) outcome.out.append(piece.data(), n);
    const int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.err = read(folder / "stderr");
    return outcome;
  }

  static std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
    return folder / name;
  }
  /// A sound profile as text, to be spoilt by a test.
  std::string profile_text() const { return shiplap("profiles show gtx-titan-2014 --json").out; }

  TemporaryFolder temporary;
  fs::path folder = temporary.path();
};

inline void expect_refused(const Outcome& outcome, int code, std::initializer_list<const char*> words) {
  EXPECT_EQ(outcome.code, code) << outcome.err;
  EXPECT_EQ(outcome.out, "") << "a refused command prints nothing on stdout";
  for (const char* word : words) EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " in: " << outcome.err;
}

inline Json parsed(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  Json json = Json::parse(outcome.out, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << outcome.out.substr(0, 400);
  return json;
}

inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

}  // namespace shiplap
