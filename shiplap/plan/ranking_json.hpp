// Reading what ranking.hpp and kernel_rates.hpp write, and its schemas.
#pragma once

#include "shiplap/core/json_forward.hpp"
#include "shiplap/plan/kernel_rates.hpp"
#include "shiplap/plan/ranking.hpp"

namespace shiplap {

/// Writes the kind of the mover and, for a kernel, its grid.
Json to_json(const Mover&);

/// Reads what to_json wrote. Throws Error that names the key.
void from_json(const JsonReader&, Mover&);
Json to_json(const Choice&);                      ///< writes every field of the choice
void from_json(const JsonReader&, Choice&);       ///< see from_json(const JsonReader&, Mover&)
void from_json(const JsonReader&, Candidate&);    ///< see from_json(const JsonReader&, Mover&)
void from_json(const JsonReader&, KernelRates&);  ///< see from_json(const JsonReader&, Mover&)
void from_json(const JsonReader&, Ranking&);      ///< see from_json(const JsonReader&, Mover&)

Json json_schema(const Mover&);        ///< JSON Schema of what to_json writes
Json json_schema(const Choice&);       ///< JSON Schema of what to_json writes
Json json_schema(const Candidate&);    ///< JSON Schema of what to_json writes
Json json_schema(const KernelRates&);  ///< JSON Schema of what to_json writes
Json json_schema(const Ranking&);      ///< JSON Schema of what to_json writes

}  // namespace shiplap
