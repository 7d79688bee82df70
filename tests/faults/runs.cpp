#include "tests/faults/runs.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

extern char** environ;

namespace shiplap::faults {
namespace {

namespace fs = std::filesystem;

/// A run takes a fraction of a second, and many share a processor.
constexpr std::uint32_t limit_seconds = 200;

[[noreturn]] void cannot(const std::string& what) {
  throw std::runtime_error(what + ": " + std::generic_category().message(errno));
}

std::string content(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

/// Folders end with '/' and come in front of what is in them.
Files files_in(const fs::path& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_directory())
      files[fs::relative(entry.path(), folder).string() + "/"];
    else
      files[fs::relative(entry.path(), folder).string()] = content(entry.path());
  return files;
}

void write_into(char (&to)[longest_path], const fs::path& path) {
  if (path.string().size() >= longest_path) throw std::runtime_error("too long: " + path.string());
  std::strncpy(to, path.c_str(), longest_path - 1);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// The environment of the program: no cache, temporary file or setting of the user.
std::vector<std::string> environment(const fs::path& folder, int requests, int answers) {
  return {"PATH=/usr/bin:/bin",
          "HOME=" + (folder / "work").string(),
          "XDG_CACHE_HOME=" + (folder / "work/cache").string(),
          "TMPDIR=" + (folder / "work").string(),
          "LD_PRELOAD=" SHIPLAP_FAULTS_LIBRARY,
          std::string(shared_variable) + "=" + (folder / "shared").string(),
          std::string(requests_variable) + "=" + std::to_string(requests),
          std::string(answers_variable) + "=" + std::to_string(answers)};
}

Shared* new_shared(const fs::path& file) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0 || ftruncate(descriptor, sizeof(Shared)) != 0) cannot(file.string());
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (memory == MAP_FAILED) cannot("mmap");
  return static_cast<Shared*>(memory);
}

}  // namespace

Runs::Runs(const Scenario& scenario) {
  work_ = folder_.path() / "work";
  fs::create_directory(work_);
  scenario.prepare(work_);
  initial_ = files_in(work_);
  shared_ = new_shared(folder_.path() / "shared");
  write_into(shared_->stdout_file, folder_.path() / "stdout");
  write_into(shared_->stderr_file, folder_.path() / "stderr");
  shared_->limit_seconds = limit_seconds;
  shared_->program_begins = scenario.begins;
  varies_ = std::regex(scenario.varies);
  start(scenario);
}

Runs::~Runs() {
  if (requests_ >= 0) close(requests_);  // ends the process
  if (answers_ >= 0) close(answers_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
  munmap(shared_, sizeof(Shared));
}

void Runs::start(const Scenario& scenario) {
  int to[2];
  int from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) cannot("pipe2");
  requests_ = to[1];
  answers_ = from[0];
  constexpr int requests = 198;
  constexpr int answers = 199;
  std::vector<std::string> words{scenario.program};
  words.insert(words.end(), scenario.words.begin(), scenario.words.end());
  std::vector<std::string> variables = environment(folder_.path(), requests, answers);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, to[0], requests);
  posix_spawn_file_actions_adddup2(&actions, from[1], answers);
  posix_spawn_file_actions_addchdir_np(&actions, work_.c_str());
  const int error = posix_spawn(&process_, words.front().c_str(), &actions, nullptr, pointers(words).data(),
                                pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(to[0]);
  close(from[1]);
  if (error != 0) throw std::runtime_error(scenario.program + ": " + std::generic_category().message(error));
}

void Runs::restore() const {
  const Files now = files_in(work_);
  for (const auto& [path, text] : now)
    if (!initial_.contains(path)) fs::remove_all(work_ / path);
  for (const auto& [path, text] : initial_) {
    const auto found = now.find(path);
    if (found != now.end() && found->second == text) continue;
    if (path.ends_with('/'))
      fs::create_directories(work_ / path);
    else
      std::ofstream(work_ / path, std::ios::binary) << text;
  }
}

std::string Runs::without_varying(const std::string& text) const { return std::regex_replace(text, varies_, ""); }

Files Runs::without_varying(Files files) const {
  for (auto& [path, text] : files) text = without_varying(text);
  return files;
}

Outcome Runs::run(const Fault& fault) { return run(fault, false, 0); }

Outcome Runs::run(const Fault& fault, bool record, std::uint32_t depth) {
  restore();
  Shared& s = *shared_;
  s.kind = fault.kind;
  s.occurrence = fault.occurrence;
  s.error = fault.error;
  s.lasting = fault.lasting;
  s.record = record;
  s.stack_depth = depth;
  s.calls = 0;
  s.failed = 0;
  s.depth = 0;
  s.returned = false;
  s.threads_left = s.descriptors_left = 0;
  s.failed_call = {};
  if (record) s.stacks = {};
  char byte = 'r';
  if (write(requests_, &byte, 1) != 1 || read(answers_, &byte, 1) != 1)
    throw std::runtime_error("the program has ended");
  if (maps_.empty()) maps_ = content("/proc/" + std::to_string(process_) + "/maps");
  return {.status = s.status,
          .struck = s.failed > 0,
          .returned = s.returned,
          .calls = s.calls,
          .threads_left = s.threads_left,
          .descriptors_left = s.descriptors_left,
          .out = without_varying(content(s.stdout_file)),
          .err = content(s.stderr_file),
          .files = without_varying(files_in(work_)),
          .failed_call = std::string(s.failed_call.function) + " " + s.failed_call.path};
}

std::vector<FileCall> Runs::file_calls() {
  const Outcome outcome = run({.kind = Kind::file}, true, 0);
  if (outcome.calls > most_calls) throw std::runtime_error("more calls on files than can be listed");
  return {shared_->file_calls.begin(), shared_->file_calls.begin() + static_cast<std::ptrdiff_t>(outcome.calls)};
}

std::vector<std::uint64_t> Runs::stacks(std::uint32_t depth) {
  run({.kind = Kind::memory}, true, depth);
  std::vector<std::uint64_t> first;
  for (const Stack& stack : shared_->stacks)
    if (stack.hash != 0) first.push_back(stack.occurrence);
  std::ranges::sort(first);
  return first;
}

std::vector<std::pair<std::string, std::string>> Runs::failed_stack() const {
  std::vector<std::pair<std::string, std::string>> calls;
  for (std::uint32_t i = 0; i < shared_->depth; ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(shared_->addresses[i]);
    std::istringstream lines(maps_);
    for (std::string line; std::getline(lines, line);) {
      std::uintptr_t begin = 0;
      std::uintptr_t end = 0;
      std::uintptr_t offset = 0;
      if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %*s %" SCNxPTR, &begin, &end, &offset) != 3) continue;
      const std::size_t path = line.find('/');
      if (address < begin || address >= end || path == line.npos) continue;
      char at[32];
      std::snprintf(at, sizeof at, "0x%" PRIxPTR, address - begin + offset - 1);
      calls.emplace_back(line.substr(path), at);
    }
  }
  return calls;
}

std::string Runs::place() const {
  std::string text;
  for (const auto& [file, at] : failed_stack()) text += " " + fs::path(file).filename().string() + "+" + at;
  return text;
}

bool Runs::failed_in(const std::string& part) const {
  for (const auto& [file, at] : failed_stack()) {
    FILE* names = popen(("addr2line -Cfi -e '" + file + "' " + at).c_str(), "r");
    if (names == nullptr) cannot("addr2line");
    std::string text;
    for (int c = 0; (c = std::fgetc(names)) != EOF;) text.push_back(static_cast<char>(c));
    if (pclose(names) != 0) cannot("addr2line");
    if (text.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace shiplap::faults
