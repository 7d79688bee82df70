# Finds hwloc through pkg-config and makes the target hwloc::hwloc.
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
if(NOT TARGET hwloc::hwloc)
  add_library(hwloc::hwloc ALIAS PkgConfig::HWLOC)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(hwloc REQUIRED_VARS HWLOC_LIBRARIES)
