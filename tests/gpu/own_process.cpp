#include "tests/gpu/own_process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <utility>

namespace shiplap::testing {
namespace {

constexpr std::chrono::milliseconds between_looks(20);

std::string name_of(const std::string& setting) { return setting.substr(0, setting.find('=') + 1); }

/// Calls `done` until it returns true. Returns whether it did within the limit.
bool soon(std::chrono::seconds limit, const auto& done) {
  const auto start = std::chrono::steady_clock::now();
  while (!done()) {
    if (std::chrono::steady_clock::now() - start > limit) return false;
    std::this_thread::sleep_for(between_looks);
  }
  return true;
}

}  // namespace

OwnProcess::OwnProcess(const std::string& test, const std::vector<std::string>& settings) {
  static std::atomic<int> count{0};
  path_ = ::testing::TempDir() + "shiplap_own_" + std::to_string(getpid()) + "_" + std::to_string(count++);
  std::vector<std::string> owned = settings;
  std::vector<char*> environment;
  for (std::string& setting : owned) environment.push_back(setting.data());
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string name = name_of(*e);
    const bool set_here = std::ranges::any_of(settings, [&](const std::string& s) { return name_of(s) == name; });
    if (!set_here && !name.starts_with("GTEST_")) environment.push_back(*e);
  }
  environment.push_back(nullptr);
  std::string program = "/proc/self/exe";
  std::string filter = "--gtest_filter=" + test;
  std::string also = "--gtest_also_run_disabled_tests";
  const std::array arguments{program.data(), filter.data(), also.data(), static_cast<char*>(nullptr)};

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  const int error = posix_spawn(&child_, program.c_str(), &files, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw std::runtime_error("posix_spawn fails with " + std::to_string(error));
}

OwnProcess::~OwnProcess() {
  kill();
  std::remove(path_.c_str());
}

void OwnProcess::kill() {
  if (child_ == 0) return;
  ::kill(child_, SIGKILL);
  waitpid(std::exchange(child_, 0), nullptr, 0);
}

Ended OwnProcess::wait(std::chrono::seconds limit) {
  Ended ended;
  ended.by_itself = soon(limit, [&] { return waitpid(child_, &ended.status, WNOHANG) == child_; });
  if (ended.by_itself)
    child_ = 0;
  else
    kill();
  ended.output = output();
  return ended;
}

bool OwnProcess::says(const std::string& text) const {
  return soon(std::chrono::seconds(60), [&] { return output().find(text) != std::string::npos; });
}

std::string OwnProcess::output() const {
  std::ifstream file(path_);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace shiplap::testing
