# `cmake --install`, find_package(shiplap) and pkg-config: libraries, headers, the package files, the examples and the
# license.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/shiplap)

set_target_properties(shiplap_core PROPERTIES EXPORT_NAME core)
set(exported shiplap_core shiplap)
if(TARGET shiplap_cuda)
  set_target_properties(shiplap_cuda PROPERTIES EXPORT_NAME cuda)
  list(APPEND exported shiplap_cuda)
endif()
install(TARGETS ${exported} EXPORT shiplapTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT shiplapTargets NAMESPACE shiplap:: DESTINATION ${package_dir})
# CMake's --strip leaves archives as they are, whose lines for debuggers are most of an installation.
if(CMAKE_STRIP)
  foreach(target IN LISTS exported)
    install(CODE "if(CMAKE_INSTALL_DO_STRIP)
  execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-debug
                  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:${target}>\" COMMAND_ERROR_IS_FATAL ANY)
endif()")
  endforeach()
endif()
# find_package finds the build folder too.
export(TARGETS ${exported} shiplap_flags NAMESPACE shiplap:: FILE ${PROJECT_BINARY_DIR}/shiplapTargets.cmake)
file(COPY ${PROJECT_SOURCE_DIR}/cmake/Findhwloc.cmake DESTINATION ${PROJECT_BINARY_DIR})
# The shared library is a component, which is installed with the others where SHIPLAP_SHARED is on.
set(if_wanted COMPONENT shared)
if(NOT SHIPLAP_SHARED)
  list(APPEND if_wanted EXCLUDE_FROM_ALL)
endif()
if(TARGET shiplap_shared)
  install(TARGETS shiplap_shared EXPORT shiplapSharedTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ${if_wanted}
          NAMELINK_COMPONENT shared)
  install(EXPORT shiplapSharedTargets NAMESPACE shiplap:: DESTINATION ${package_dir} ${if_wanted})
endif()

# The insides of the devices are nobody's interface: the library is used through device/open. Nor is what the rows of the
# measuring table are written with, nor the insides of the workloads.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/shiplap DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "shiplap.h" PATTERN "version.h" PATTERN "shiplap.f90" PATTERN "device/cuda" EXCLUDE PATTERN "device/virtual" EXCLUDE
        PATTERN "shiplap/c" EXCLUDE PATTERN "measure/rows.hpp" EXCLUDE PATTERN "measure/block_points.hpp" EXCLUDE PATTERN "workload/built_in" EXCLUDE)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/shiplapConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/shiplapConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/shiplapConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/shiplapConfig.cmake ${PROJECT_BINARY_DIR}/shiplapConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/Findhwloc.cmake DESTINATION ${package_dir})

# shiplap.pc finds the folders from its own, so that an installed tree can be moved.
set(shiplap_pc_libraries "-lshiplap")
if(TARGET shiplap_cuda)
  string(APPEND shiplap_pc_libraries " -lshiplap_cuda -lshiplap_core -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt -ldl")
else()
  string(APPEND shiplap_pc_libraries " -lshiplap_core")
endif()
string(APPEND shiplap_pc_libraries " -lpthread -lstdc++ -lm")  # for C and Fortran; nvcc refuses -pthread
file(RELATIVE_PATH shiplap_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" shiplap_pc_prefix "${shiplap_pc_prefix}")
set(shiplap_pc_requires "fmt hwloc nlohmann_json")
if(SQLite3_FOUND)
  string(APPEND shiplap_pc_requires " sqlite3")
endif()
if(ZLIB_FOUND)
  string(APPEND shiplap_pc_requires " zlib")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/shiplap.pc.in ${PROJECT_BINARY_DIR}/shiplap.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/shiplap.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET shiplap_shared)
  set(shiplap_pc_requires "nlohmann_json")
  set(shiplap_pc_libraries "-lshiplap")
  if(TARGET shiplap_cuda)
    string(APPEND shiplap_pc_libraries " -L${CUDAToolkit_LIBRARY_DIR} -lcudart")
  endif()
  string(APPEND shiplap_pc_libraries " -lstdc++")  # of kernels, in programs in C and Fortran
  configure_file(${PROJECT_SOURCE_DIR}/cmake/shiplap.pc.in ${PROJECT_BINARY_DIR}/shared/shiplap.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/shared/shiplap.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${if_wanted})
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
