# What a program pays for including shiplap/shiplap.hpp, where no clock can make the answer uncertain: the headers that it
# reaches, and how much text of the project's own it has after preprocessing. Times are in docs or changelogs, as nvcc
# and a quiet machine are needed for them.
# Wants: source, work, compiler.
cmake_minimum_required(VERSION 3.22)
file(REMOVE_RECURSE ${work})
file(WRITE ${work}/public.cpp "#include \"shiplap/shiplap.hpp\"\n")

# compile(OUT ARGUMENT…): the output of the compiler.
function(compile out)
  execute_process(COMMAND ${compiler} -std=c++20 -I ${source} ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE error)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${compiler} ${ARGN} ended with ${status}: ${error}")
  endif()
  set(${out} "${output}" PARENT_SCOPE)
endfunction()

# The standard library may include any of its headers in others, so for those only what the project's own headers say is
# checked. Each of them took 0.2 s or more of nvcc.
compile(reached -M ${work}/public.cpp)
string(REGEX MATCHALL "[^ \\\n]*shiplap/[a-z_/]+\\.hpp" own "${reached}")
set(standard "")
foreach(header ${own})
  file(STRINGS ${header} lines REGEX "^#include <")
  list(APPEND standard ${lines})
  foreach(heavy algorithm atomic deque filesystem future iostream locale mutex ranges regex sstream stop_token thread)
    if("#include <${heavy}>" IN_LIST lines)
      message(FATAL_ERROR "${header} includes <${heavy}>, and shiplap/shiplap.hpp reaches it: include it in the sources, "
                          "or in a header that only its users include")
    endif()
  endforeach()
endforeach()
# What programs seldom use stands in headers that they include themselves.
foreach(heavy nlohmann/json.hpp fmt/format.h shiplap/core/json.hpp shiplap/profile/profile.hpp
        shiplap/schedule/schedule.hpp shiplap/pipeline/race.hpp shiplap/plan/memory_choice.hpp)
  if(reached MATCHES "/${heavy}[ \\\n]")
    message(FATAL_ERROR "shiplap/shiplap.hpp reaches ${heavy}: declare its types where values are only referred to")
  endif()
endforeach()

list(JOIN standard "\n" standard)
file(WRITE ${work}/standard.cpp "${standard}\n")
compile(standard -E -P ${work}/standard.cpp)
compile(public -E -P ${work}/public.cpp)
string(LENGTH "${standard}" standard)
string(LENGTH "${public}" public)
math(EXPR size "${public} - ${standard}")
message(STATUS "shiplap/shiplap.hpp has ${size} characters of its own after preprocessing, and ${standard} of the "
               "standard library")
set(most 50000)
if(size GREATER most)
  message(FATAL_ERROR "That is more than the ${most} characters that are allowed: what does the newest include bring?")
endif()
