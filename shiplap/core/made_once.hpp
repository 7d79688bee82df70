// Values that take long to make and are made once in a process.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace shiplap {

/// Values by name. Several threads may ask at the same time. References stay valid as long as the object lives.
template <class Value>
class MadeOnce {
 public:
  /// The value of this name, which `make` returns when it is asked for the first time. When `make` throws, the next
  /// call tries again.
  template <class Make>
  const Value& at(std::string_view name, const Make& make) {
    const std::lock_guard lock(mutex_);
    auto found = values_.find(name);
    if (found == values_.end()) found = values_.emplace(std::string(name), make()).first;
    return found->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace shiplap
