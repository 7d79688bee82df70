# Installs a build into an empty folder, looks through the installed headers, builds the project in `consumer` against it
# with find_package, and runs its programs; with `cuda_compiler` also the one that has a CUDA kernel. A program of the
# consumer is also built with the flags of pkg-config. The installed examples are configured.
# Wants: build, consumer, work, generator, compiler, experiments; may have: cuda_compiler, cuda_host_compiler.
cmake_minimum_required(VERSION 3.22)
file(REMOVE_RECURSE ${work})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${status}:\n${output}")
  endif()
  message(STATUS "${output}")
endfunction()

run(${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix)

# What a header includes is installed with it or comes from a package that the package file finds for its users.
set(include ${work}/prefix/include)
file(GLOB_RECURSE headers RELATIVE ${include} ${include}/*)
foreach(header IN LISTS headers)
  if(header MATCHES "/device/(cuda|virtual)/")
    message(FATAL_ERROR "${header} is installed, and it is the inside of a device")
  endif()
  file(STRINGS ${include}/${header} lines REGEX "^ *# *include")
  foreach(line IN LISTS lines)
    if(line MATCHES "\"(.*)\"")
      if(NOT EXISTS ${include}/${CMAKE_MATCH_1})
        message(FATAL_ERROR "${header} includes ${CMAKE_MATCH_1}, which is not installed")
      endif()
    elseif(NOT line MATCHES "<([a-z_]+|nlohmann/json(_fwd)?\\.hpp)>")
      message(FATAL_ERROR "${header} has ${line}, which is neither C++'s own nor of a package that users get")
    endif()
  endforeach()
endforeach()
if(NOT "shiplap/shiplap.hpp" IN_LIST headers)
  message(FATAL_ERROR "shiplap/shiplap.hpp is not installed")
endif()

set(languages -D CMAKE_CXX_COMPILER=${compiler})
if(cuda_compiler)
  list(APPEND languages -D CMAKE_CUDA_COMPILER=${cuda_compiler})
  if(cuda_host_compiler)
    list(APPEND languages -D CMAKE_CUDA_HOST_COMPILER=${cuda_host_compiler})
  endif()
endif()
run(${CMAKE_COMMAND} -S ${consumer} -B ${work}/build -G ${generator} ${languages} -D CMAKE_PREFIX_PATH=${work}/prefix)
run(${CMAKE_COMMAND} --build ${work}/build)
run(${work}/build/plan_by_hand)
run(${work}/build/own_job)
if(cuda_compiler)
  run(${work}/build/own_kernel)
  # Programs without a kernel need no CUDA compiler of their own.
  run(${CMAKE_COMMAND} -S ${consumer} -B ${work}/build-cxx -G ${generator} -D CMAKE_CXX_COMPILER=${compiler}
      -D CMAKE_PREFIX_PATH=${work}/prefix)
  run(${CMAKE_COMMAND} --build ${work}/build-cxx --target plan_by_hand)
endif()

# Without CMake: what pkg-config prints compiles and links a program, also after the tree was moved.
find_program(pkg_config NAMES pkgconf pkg-config REQUIRED)
file(RENAME ${work}/prefix ${work}/moved)
file(GLOB_RECURSE pc ${work}/moved/*/shiplap.pc)
get_filename_component(pc_folder "${pc}" DIRECTORY)
execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc_folder} ${pkg_config} --cflags --libs shiplap
                RESULT_VARIABLE status OUTPUT_VARIABLE flags ERROR_VARIABLE error OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "pkg-config shiplap ended with ${status}: ${error}")
endif()
separate_arguments(flags UNIX_COMMAND "${flags}")
run(${compiler} -std=c++20 ${consumer}/own_job.cpp -o ${work}/own_job_by_pkg_config ${flags})
run(${work}/own_job_by_pkg_config)
file(RENAME ${work}/moved ${work}/prefix)

file(GLOB_RECURSE examples ${work}/prefix/*/halo.cu)
get_filename_component(examples "${examples}" DIRECTORY)
run(${CMAKE_COMMAND} -S ${examples} -B ${work}/examples -G ${generator} ${languages}
    -D CMAKE_PREFIX_PATH=${work}/prefix)
run(${work}/prefix/bin/shiplap --version)
if(experiments)
  run(${work}/prefix/bin/shiplap reproduce)
endif()
