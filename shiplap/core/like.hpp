// The concept by which one function template takes constant and mutable objects of a type.
#pragma once

#include <concepts>
#include <type_traits>

namespace shiplap {

/// Whether T is `Known` or `const Known`.
template <class T, class Known>
concept Like = std::same_as<std::remove_const_t<T>, Known>;

}  // namespace shiplap
