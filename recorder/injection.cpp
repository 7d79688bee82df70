// The library that CUDA loads into a program which `shiplap advise` starts (CUDA_INJECTION64_PATH). It records the
// process into the file that SHIPLAP_RECORDING names, followed by the number of the process.
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "recorder/activities.hpp"
#include "recorder/calls.hpp"
#include "recorder/log.hpp"
#include "recorder/windows.hpp"
#include "shiplap/device/cuda/cupti.hpp"

namespace shiplap::recorder {
namespace {

constexpr auto period = std::chrono::milliseconds(200);  // between two writes

std::string gpu_name() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  const auto name_of =
      reinterpret_cast<decltype(&cuDeviceGetName)>(driver == nullptr ? nullptr : dlsym(driver, "cuDeviceGetName"));
  std::string name(256, '\0');
  if (name_of == nullptr || name_of(name.data(), static_cast<int>(name.size()), 0) != CUDA_SUCCESS)
    return "unknown GPU";
  return name.c_str();
}

std::uint64_t now() {
  std::uint64_t time = 0;
  cupti().timestamp(&time);
  return time;
}

/// Records the process from its construction on.
class Recorder {
 public:
  Recorder(const std::string& path, std::uint64_t seconds)
      : origin_(now()),
        log_(path, origin_, gpu_name),
        windows_(seconds > 0 ? origin_ + seconds * 1'000'000'000 : 0),
        thread_([this] { work(); }) {
    collect_calls(true);
  }

  void finish() {
    if (forked_) return;  // first, because another thread may have held the mutex when the process forked
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return;
      ended_ = true;
    }
    woken_.notify_one();
    thread_.join();
    drain(true);
    log_.close(lost_buffers());
  }
  /// In a forked child there is no thread that writes, and the file belongs to the parent.
  void forked() noexcept {
    forked_ = true;
    collect_calls(false);
    log_.abandon();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (!woken_.wait_for(lock, period, [&] { return ended_; })) {
      lock.unlock();
      const std::uint64_t records = drain(false);
      if (records > 0 && !std::exchange(asked_for_migrations_, true)) static_cast<void>(watch_migrations());
      switch_to(windows_.records(records, now()));
      lock.lock();
    }
  }
  void switch_to(bool records) {
    if (records == recording_) return;
    recording_ = records;
    if (records) {
      log_.pause({paused_at_, now()});
    } else {
      paused_at_ = now();
    }
    record_activities(records);
    collect_calls(records);
  }
  std::uint64_t drain(bool all) {
    std::vector<Record> done = take_activities(all);  // first, so that the calls that have submitted it are known
    return log_.write(take_calls(), std::move(done));
  }

  std::uint64_t origin_;
  std::uint64_t paused_at_ = 0;
  Log log_;
  Windows windows_;
  bool recording_ = true;
  bool asked_for_migrations_ = false;
  std::atomic<bool> forked_ = false;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool ended_ = false;
  std::thread thread_;
};

Recorder* recorder = nullptr;  // is never deleted, because threads of the program may outlive static objects

/// Starts to record. Returns the reason why nothing is recorded, else "".
std::string start(const std::string& path) {
  if (!cupti().missing.empty()) return cupti().missing;
  if (std::string refused = watch_activities(); !refused.empty()) return refused;
  if (std::string refused = watch_calls(); !refused.empty()) return refused;
  const char* const seconds = std::getenv("SHIPLAP_RECORDING_SECONDS");
  recorder = new Recorder(path, seconds == nullptr ? 0 : std::strtoull(seconds, nullptr, 10));
  std::atexit([] { recorder->finish(); });
  pthread_atfork(nullptr, nullptr, [] { recorder->forked(); });
  return "";
}

}  // namespace
}  // namespace shiplap::recorder

/// NVTX calls this in a process that names ranges, before CUDA may have been used. CUPTI does what it asks for.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(void* get_export_table) {
  const shiplap::Cupti& cupti = shiplap::cupti();
  return cupti.missing.empty() && cupti.nvtx_initialize != nullptr &&
         cupti.nvtx_initialize(get_export_table) == CUPTI_SUCCESS;
}

/// CUDA calls this once in each process that uses a GPU. The program goes on whatever it returns.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const char* const prefix = std::getenv("SHIPLAP_RECORDING");
  if (prefix == nullptr || shiplap::recorder::recorder != nullptr) return 1;
  const std::string path = std::string(prefix) + "." + std::to_string(getpid());
  if (const std::string refused = shiplap::recorder::start(path + ".jsonl"); !refused.empty())
    std::ofstream(path + ".refused") << refused << '\n';
  return 1;
}
