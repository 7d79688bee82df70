// Enumerations with names, by which files and people call their values.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "shiplap/core/error.hpp"

namespace shiplap {

using std::string_view_literals::operator""sv;

/// Values of an enumeration with their names. A function `names_of(E)` beside the enumeration returns them.
template <class E>
using EnumNames = std::span<const std::pair<E, std::string_view>>;

/// Whether `names_of` knows the names of an enumeration.
template <class E>
concept NamedEnum = requires(E value) {
  EnumNames<E>(names_of(value));
};

/// The name of a value in this table. Throws Error for a value that is not in it.
template <class E>
std::string_view name_in(std::type_identity_t<EnumNames<E>> names, E value) {
  for (const auto& [known, name] : names)
    if (known == value) return name;
  throw Error("a value of an enumeration has no name");
}

/// The name of a value. Throws Error for a value without one.
template <NamedEnum E>
std::string_view enum_name(E value) {
  return name_in(names_of(value), value);
}

/// The value with this name; nullopt when there is none.
template <NamedEnum E>
std::optional<E> value_of(std::string_view text) {
  for (const auto& [value, name] : names_of(E{}))
    if (name == text) return value;
  return std::nullopt;
}

/// All names, as in "depth, breadth".
template <NamedEnum E>
std::string all_names() {
  std::string all;
  for (const auto& [value, name] : names_of(E{})) all.append(all.empty() ? "" : ", ").append(name);
  return all;
}

}  // namespace shiplap
