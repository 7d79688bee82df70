# shiplap_header_check: compiles every header alone, twice in one file, so that none leans on what another includes.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/shiplap/*.hpp
     ${PROJECT_SOURCE_DIR}/cli/*.hpp ${PROJECT_SOURCE_DIR}/tests/*.hpp ${PROJECT_SOURCE_DIR}/experiments/*.hpp)
if(NOT SHIPLAP_EXPERIMENTS)
  list(FILTER headers EXCLUDE REGEX "^(tests/)?experiments/")
endif()
if(NOT SHIPLAP_HAS_CUDA)
  list(FILTER headers EXCLUDE REGEX "^(shiplap|tests)/device/cuda/")
endif()
if(NOT MPI_CXX_FOUND)
  list(FILTER headers EXCLUDE REGEX "/mpi\\.hpp$")
endif()

set(sources)
foreach(header IN LISTS headers)
  string(REGEX REPLACE "\\.hpp$" ".cpp" source ${CMAKE_CURRENT_BINARY_DIR}/header_check/${header})
  file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n#include \"${header}\"\n" @ONLY)
  list(APPEND sources ${source})
endforeach()

add_library(shiplap_header_check OBJECT ${sources})
target_include_directories(shiplap_header_check PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(shiplap_header_check PRIVATE shiplap::shiplap CLI11::CLI11 GTest::gmock fmt::fmt shiplap_flags)
if(MPI_CXX_FOUND)
  target_link_libraries(shiplap_header_check PRIVATE MPI::MPI_CXX)
endif()
set_target_properties(shiplap_header_check PROPERTIES UNITY_BUILD OFF)
shiplap_only_compiled(shiplap_header_check)
target_compile_definitions(shiplap_header_check PRIVATE SHIPLAP_PROGRAM="")  # of the tests of the command line
# Only whether it compiles matters.
target_compile_options(shiplap_header_check PRIVATE -O0 -g0)
