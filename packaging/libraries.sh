# The portable program's compiler and libraries, into build-package: clang and libc++ of the PyPI package ziglang, which
# compile for a given glibc; fmt, hwloc, SQLite and zlib from Debian's sources; headers from Debian's packages,
# Python's for wheels included. Read by package.sh.
# shellcheck shell=bash disable=SC2154

zig_version=0.15.1
prefix=$work/libraries
python_headers=$prefix/python/usr/include
compiler=$work/compiler
complete=$prefix/complete-with-python-$zig_version-$newest_glibc

prepare_compiler() {
  local zig command
  quietly zig.log "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check "ziglang==$zig_version"
  zig=$("$work/venv/bin/python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')
  mkdir -p "$compiler"
  for command in cc c++; do
    cat >"$compiler/$command" <<SCRIPT
#!/bin/sh
export ZIG_GLOBAL_CACHE_DIR=$work/zig-cache ZIG_LOCAL_CACHE_DIR=$work/zig-cache
exec $zig/zig $command -target $machine-linux-gnu.$newest_glibc -g0 "\$@"
SCRIPT
  done
  for command in ar ranlib; do printf '#!/bin/sh\nexec %s %s "$@"\n' "$zig/zig" "$command" >"$compiler/$command"; done
  # nvcc's own front end lags behind clang's: three headers without what it does not know. rsqrt is CUDA's own name. With
  # _GLIBCXX_MATH_H CUDA leaves isnan and its like to the C++ library, as it does for libstdc++.
  mkdir -p "$compiler/nvcc/__type_traits" "$compiler/nvcc/__algorithm" "$compiler/nvcc/bits"
  sed 's/__has_builtin(__builtin_common_type)/0/' "$zig/lib/libcxx/include/__type_traits/common_type.h" >"$compiler/nvcc/__type_traits/common_type.h"
  sed 's/\(define _LIBCPP_HAS_ALGORITHM_VECTOR_UTILS\) 1/\1 0/' "$zig/lib/libcxx/include/__algorithm/simd_utils.h" >"$compiler/nvcc/__algorithm/simd_utils.h"
  sed '/rsqrt/d' "$zig/lib/libc/include/generic-glibc/bits/mathcalls.h" >"$compiler/nvcc/bits/mathcalls.h"
  cat >"$compiler/nvcc-host" <<SCRIPT
#!/bin/sh
exec $compiler/c++ -I$compiler/nvcc -D_GLIBCXX_MATH_H=1 -D_ALLOW_UNSUPPORTED_LIBCPP "\$@"
SCRIPT
  chmod +x "$compiler"/*
  cat >"$work/toolchain$kind.cmake" <<CMAKE
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $machine)
set(CMAKE_C_COMPILER $compiler/cc)
set(CMAKE_CXX_COMPILER $compiler/c++)
set(CMAKE_AR $compiler/ar)
set(CMAKE_RANLIB $compiler/ranlib)
set(CMAKE_STRIP $(command -v "$strip"))
set(CMAKE_CUDA_HOST_COMPILER $compiler/nvcc-host)
set(CMAKE_PREFIX_PATH $prefix)
set(ENV{PKG_CONFIG_LIBDIR} $prefix/lib/pkgconfig)
set(SHIPLAP_CCACHE "" CACHE STRING "" FORCE)
set(CMAKE_LINK_DEPENDS_USE_LINKER FALSE)  # an option that its linker does not know
set(CUDA_rt_LIBRARY -lrt)
CMAKE
  [ -z "$nvcc" ] || cat >>"$work/toolchain$kind.cmake" <<CMAKE
set(CMAKE_EXE_LINKER_FLAGS_INIT -L$(cuda_libraries))
set(CMAKE_MODULE_LINKER_FLAGS_INIT -L$(cuda_libraries))
set(CUDA_cudart_static_LIBRARY $(cuda_libraries)/libcudart_static.a CACHE FILEPATH "")  # of this machine, not of this host
CMAKE
}
# The toolkit with the runtime of another machine, which PyPI has. Code for GPUs is the same everywhere.
prepare_cuda() {
  local release library name=nvidia-cuda-runtime
  release=$("$toolkit/bin/nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
  [ "${release%%.*}" -ge 13 ] || name=nvidia-cuda-runtime-cu${release%%.*}
  rm -rf "$work"/cuda*
  quietly cuda.log "$work/venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --platform "manylinux2014_$machine" -d "$work/cuda-runtime" "$name==$release.*"
  unzip -q -d "$work/cuda-runtime" "$work"/cuda-runtime/*.whl
  library=$(find "$work/cuda-runtime" -name libcudart_static.a -printf %h)
  [ -n "$library" ] || die "PyPI's package of the CUDA runtime $release for $machine has no static library: SHIPLAP_CUDA=off does without"
  # nvcc looks for all else beside the folder that it is in, so this is a copy and no link.
  mkdir -p "$work/cuda/targets/sbsa-linux"
  cp -r "$toolkit/bin" "$work/cuda/"
  ln -s "$toolkit"/{nvvm,include} "$work/cuda/"
  ln -s "$toolkit/include" "$library" "$work/cuda/targets/sbsa-linux/"
}
cuda_libraries() { "$nvcc" -ccbin "$compiler/nvcc-host" --dryrun x.cu 2>&1 | sed -n 's/.*LIBRARIES=.*"-L\([^"]*\)"[^"]*$/\1/p'; }

# The sources as Debian signs them, from lists of their own: the node's may have no sources.
fetch_sources() {
  local apt=(apt-get -qq -o Dir::Etc::SourceList="$work/sources/sources.list" -o Dir::Etc::SourceParts=/dev/null
             -o Dir::State::Lists="$work/sources/lists" -o Dir::Cache="$work/sources/cache" -o APT::Sandbox::User=root
             -o APT::Architectures="$debian")
  mkdir -p "$work/sources/lists" "$work/sources/cache"
  printf '%s [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian %s main\n' \
    deb-src bookworm deb bookworm deb trixie >"$work/sources/sources.list"
  (cd "$work/sources" && "${apt[@]}" update && "${apt[@]}" source fmtlib hwloc sqlite3 zlib &&
    "${apt[@]}" download "libpython3.11-dev:$debian" "libpython3.13-dev:$debian")
}

build_fmt() {
  cmake -S . -B build -G Ninja -D CMAKE_BUILD_TYPE=Release -D FMT_TEST=OFF -D FMT_DOC=OFF -D CMAKE_INSTALL_LIBDIR=lib \
    --toolchain "$work/toolchain$kind.cmake" -D CMAKE_INSTALL_PREFIX="$prefix"
  cmake --build build --parallel "$jobs" --target install
}
# What the topology of a node needs and no more: no display, no plugins, no vendor's libraries.
build_hwloc() {
  ./configure --host="$machine-linux-gnu" --prefix="$prefix" --localstatedir=/var CC="$compiler/cc" AR="$compiler/ar" RANLIB="$compiler/ranlib" CFLAGS=-O2 \
    --disable-shared --enable-static --disable-{cairo,libxml2,pci,opencl,cuda,nvml,rsmi,levelzero,gl,libudev,plugins,doxygen,readme}
  make -j "$jobs" -C include install
  make -j "$jobs" -C hwloc install
  install -D -m 644 hwloc.pc "$prefix/lib/pkgconfig/hwloc.pc"
}
build_sqlite() {
  ./configure --disable-tcl --disable-readline  # makes one source file, with programs of its own that run here
  make sqlite3.c
  "$compiler/cc" -O2 -D SQLITE_OMIT_LOAD_EXTENSION -c sqlite3.c -o sqlite3.o
  "$compiler/ar" rcs "$prefix/lib/libsqlite3.a" sqlite3.o
  install -D -m 644 sqlite3.h "$prefix/include/sqlite3.h"
}
build_zlib() {
  CC="$compiler/cc" AR="$compiler/ar" RANLIB="$compiler/ranlib" CFLAGS=-O2 ./configure --static
  make -j "$jobs" libz.a
  install -D -m 644 -t "$prefix/lib" libz.a
  install -D -m 644 -t "$prefix/include" zlib.h zconf.h
}
copy_headers() {
  local file
  dpkg -L nlohmann-json3-dev libcli11-dev | while read -r file; do
    [ ! -f "$file" ] || install -D -m 644 "$file" "$prefix/${file#/usr/}"
  done
}

# in_source NAME COMMAND: runs it in the folder of the source package
in_source() { cd "$work"/sources/"$1"-*/ && set -ex && "$2"; }

prepare_libraries() {
  [ -x "$work/venv/bin/python" ] || "$(command -v python3.11 || echo python3)" -m venv "$work/venv"
  [ "$nvcc" != "$work/cuda/bin/nvcc" ] || prepare_cuda
  prepare_compiler
  [ ! -e "$complete" ] || return 0
  rm -rf "$prefix" "$work/sources" "$work/zig-cache"
  quietly sources.log fetch_sources
  quietly fmt.log bash -c "$(declare -p work prefix compiler jobs kind machine; declare -f in_source build_fmt); in_source fmtlib build_fmt"
  quietly hwloc.log bash -c "$(declare -p work prefix compiler jobs kind machine; declare -f in_source build_hwloc); in_source hwloc build_hwloc"
  quietly sqlite.log bash -c "$(declare -p work prefix compiler jobs kind machine; declare -f in_source build_sqlite); in_source sqlite3 build_sqlite"
  quietly zlib.log bash -c "$(declare -p work prefix compiler jobs kind machine; declare -f in_source build_zlib); in_source zlib build_zlib"
  quietly headers.log copy_headers
  mkdir "$prefix/licenses"
  cp "$work"/sources/fmtlib-*/debian/copyright "$prefix/licenses/fmt"
  cp "$work"/sources/hwloc-*/debian/copyright "$prefix/licenses/hwloc"
  cp "$work"/sources/sqlite3-*/debian/copyright "$prefix/licenses/sqlite"
  cp "$work"/sources/zlib-*/debian/copyright "$prefix/licenses/zlib"
  local package
  for package in "$work"/sources/libpython*.deb; do dpkg-deb -x "$package" "$prefix/python"; done
  touch "$complete"
}

# add_licenses DIR: the licenses of all that the portable program holds
add_licenses() {
  local zig
  zig=$(echo "$work"/venv/lib/python3*/site-packages/ziglang)
  mkdir -p "$1"
  cp "$prefix"/licenses/* "$1/"
  cp /usr/share/doc/nlohmann-json3-dev/copyright "$1/nlohmann-json"
  cp /usr/share/doc/libcli11-dev/copyright "$1/CLI11"
  cp /usr/share/doc/node-d3/copyright "$1/D3"
  cp "$zig/lib/libcxx/LICENSE.TXT" "$1/libc++"
  cp "$zig/lib/libcxxabi/LICENSE.TXT" "$1/libc++abi"
  cp "$zig/lib/libunwind/LICENSE.TXT" "$1/libunwind"
  cp "$zig/LICENSE" "$1/compiler-rt-of-zig"
  [ -z "$nvcc" ] || echo "The programs hold NVIDIA's CUDA runtime (cudart_static), under https://docs.nvidia.com/cuda/eula/." >"$1/CUDA-runtime"
  chmod 644 "$1"/*
}
