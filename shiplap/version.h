/* The version of shiplap, in C and C++: the only place where it stands (CMake and Python read it here). */
#ifndef SHIPLAP_VERSION_H
#define SHIPLAP_VERSION_H

#define SHIPLAP_VERSION_MAJOR 0
#define SHIPLAP_VERSION_MINOR 1
#define SHIPLAP_VERSION_PATCH 0
/* The version as a text. */
#define SHIPLAP_VERSION "0.1.0"
/* The version as a number that grows, to compare it: `#if SHIPLAP_VERSION_NUMBER >= 10200` is 1.2.0 or newer. */
#define SHIPLAP_VERSION_NUMBER (10000 * SHIPLAP_VERSION_MAJOR + 100 * SHIPLAP_VERSION_MINOR + SHIPLAP_VERSION_PATCH)

#endif
