// flags: -std=c++17
// says: shiplap needs C++20: compile with -std=c++20
#include "shiplap/shiplap.hpp"
