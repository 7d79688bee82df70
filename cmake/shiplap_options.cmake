# Options, build type and warnings.
include(GNUInstallDirs)
option(SHIPLAP_TESTS "Build the tests" ON)
option(SHIPLAP_BENCH "Build the benchmarks" ON)
option(SHIPLAP_EXAMPLES "Build the examples" ON)
option(SHIPLAP_EXPERIMENTS "Build the reproductions of papers and their program" ${PROJECT_IS_TOP_LEVEL})
option(SHIPLAP_SHARED "Install a shared library beside the static ones, which find_package and pkg-config then take"
       ${BUILD_SHARED_LIBS})
option(SHIPLAP_WERROR "Treat warnings as errors" OFF)
option(SHIPLAP_UNITY "Compile several sources in one go: faster from scratch, slower to change" OFF)
set(SHIPLAP_CUDA "auto" CACHE STRING "Build the CUDA device: auto, on or off")
set_property(CACHE SHIPLAP_CUDA PROPERTY STRINGS auto on off)
set(SHIPLAP_MPI "auto" CACHE STRING "Build what needs MPI: auto (where one is found), on or off")
set_property(CACHE SHIPLAP_MPI PROPERTY STRINGS auto on off)
option(SHIPLAP_FUZZ "Build the targets of libFuzzer; needs clang" OFF)
set(SHIPLAP_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (address,undefined or thread)")

# What is installed is a release unless another type is asked for. Inside another project the type is that project's.
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The static libraries are linked into plugins, Python extensions and other shared objects.
if(NOT DEFINED CMAKE_POSITION_INDEPENDENT_CODE)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()

if(SHIPLAP_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  # The more at a time the less work, as long as there are enough for all processors.
  cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 40)
  if(processors GREATER 4)
    set(CMAKE_UNITY_BUILD_BATCH_SIZE 10)
  endif()
endif()

# shiplap_library_first(TARGET): for programs that are compiled with less optimisation than the library. Templates and inline
# functions stand in the objects of both, and the linker takes what it meets first: so it meets the library's.
function(shiplap_library_first target)
  target_link_options(${target} PRIVATE "LINKER:--whole-archive,$<TARGET_FILE:shiplap_core>,--no-whole-archive")
endfunction()

find_program(SHIPLAP_CCACHE ccache)
if(SHIPLAP_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SHIPLAP_CCACHE})
endif()

add_library(shiplap_flags INTERFACE)
target_compile_options(shiplap_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion>)
if(SHIPLAP_WERROR)
  target_compile_options(shiplap_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(SHIPLAP_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang" OR NOT SHIPLAP_SANITIZE OR NOT SHIPLAP_EXPERIMENTS)
    message(FATAL_ERROR "SHIPLAP_FUZZ is on: libFuzzer comes with clang, and finds little without a sanitizer; set "
                        "CXX=clang++, SHIPLAP_SANITIZE=address,undefined and SHIPLAP_EXPERIMENTS=ON, as ./dev fuzz does")
  endif()
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
endif()
if(SHIPLAP_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${SHIPLAP_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>
                      # A report needs lines and no more, and -O2 doubles what the checks take to compile.
                      $<$<COMPILE_LANGUAGE:CXX>:-O1> $<$<COMPILE_LANGUAGE:CXX>:-g1>)
  if(SHIPLAP_SANITIZE MATCHES "undefined")
    # The address sanitizer finds what these find, and with them g++ takes twice as long. Alignment is left to clang,
    # which checks it for little.
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,vptr,object-size>
                        $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-sanitize=alignment>)
  endif()
  add_link_options(-fsanitize=${SHIPLAP_SANITIZE})
endif()
