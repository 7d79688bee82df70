// The name of a JSON value, for headers with functions that return or take one.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace shiplap {

/// A JSON value that keeps the order of its keys. The type is incomplete here: code that reads or makes values includes
/// <nlohmann/json.hpp>.
using Json = nlohmann::ordered_json;

class JsonReader;

}  // namespace shiplap
