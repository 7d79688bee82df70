// Profiles that are refused as JSON, and what is said of them.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "shiplap/core/error.hpp"
#include "shiplap/profile/profile.hpp"

namespace shiplap {

/// The message with which a document is refused; empty when it is accepted.
inline std::string refusal(const Json& json) {
  try {
    profile_from_json(json, "bad.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Of a profile after one value in it was replaced.
inline std::string refusal_with(const Profile& profile, const std::string& pointer, const Json& value) {
  Json json = to_json(profile);
  json[Json::json_pointer(pointer)] = value;
  return refusal(json);
}
inline std::string refusal_without(const Profile& profile, const std::string& parent, const std::string& key) {
  Json json = to_json(profile);
  json[Json::json_pointer(parent)].erase(key);
  return refusal(json);
}

/// A message names the file and the key and says what was expected (or what is wrong with the key).
inline void expect_names(const std::string& message, const std::string& key, const std::string& expectation) {
  EXPECT_NE(message.find("bad.json"), message.npos) << message;
  EXPECT_NE(message.find(key), message.npos) << message;
  EXPECT_NE(message.find(expectation), message.npos) << message;
}

}  // namespace shiplap
