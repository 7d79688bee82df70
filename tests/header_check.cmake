# shiplap_header_check: compiles every header of the library alone, twice in one file, so that none leans on what another
# includes.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/shiplap/*.hpp)
if(NOT SHIPLAP_HAS_CUDA)
  list(FILTER headers EXCLUDE REGEX "^shiplap/device/cuda/")
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
target_link_libraries(shiplap_header_check PRIVATE shiplap::shiplap fmt::fmt shiplap_flags)
if(MPI_CXX_FOUND)
  target_link_libraries(shiplap_header_check PRIVATE MPI::MPI_CXX)
endif()
set_target_properties(shiplap_header_check PROPERTIES UNITY_BUILD OFF)
shiplap_only_compiled(shiplap_header_check)
# Only whether it compiles matters.
target_compile_options(shiplap_header_check PRIVATE -O0 -g0)
