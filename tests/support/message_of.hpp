// What an action says when it throws.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "shiplap/core/error.hpp"

namespace shiplap {

/// A failure of the test when it throws nothing; what is no Expected goes on.
template <class Expected = Error>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace shiplap
