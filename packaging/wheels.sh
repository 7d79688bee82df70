# The source distribution, and the wheels from it, over the portable program's build: one of the stable ABI for Python 3.12
# and newer, one for Python 3.11, whose stable ABI lacks too much. Read by package.sh.
# shellcheck shell=bash disable=SC2154

# What the source distribution, unpacked in $1, lacks: sources, or what its configuration needs.
sdist_gaps() {
  local file
  find CMakeLists.txt LICENSE pyproject.toml cmake shiplap cli recorder mpi profiles python -type f ! -name '*.pyc' |
    while read -r file; do [ -e "$1/$file" ] || echo "$file is missing"; done
  "$work/venv/bin/cmake" -S "$1/python" -B "$work/sdist-build" -G Ninja -DSHIPLAP_CUDA=off \
    -DPython_EXECUTABLE="$work/venv/bin/python" >"$work/sdist.log" 2>&1 || cat "$work/sdist.log"
}

make_sdist() {
  local gaps
  rm -rf "$work"/sdist*
  quietly sdist.log "$work/venv/bin/python" -m build --sdist --no-isolation -o "$work/sdist-made" .
  sdist=$out/$(basename "$work"/sdist-made/*.tar.gz)
  cp "$work"/sdist-made/*.tar.gz "$sdist"
  mkdir "$work/sdist"
  tar -xzf "$sdist" -C "$work/sdist" --strip-components=1
  gaps=$(sdist_gaps "$work/sdist")
  [ -z "$gaps" ] || die "nobody can build from the source distribution: $gaps"
}

# build_wheel FOLDER OPTION…: the wheel that the Python here would name; its name says the glibc that it needs. nanobind uses
# stdio.h, which neither libc++ nor the stable ABI of Python includes for it.
build_wheel() {
  local folder=$work/$1 option options=()
  shift
  for option in "SHIPLAP_BUILT=$work/portable$kind" "SHIPLAP_LICENSES=$work/licenses" "CMAKE_C_FLAGS=-ffile-prefix-map=$root/= -idirafter $python_headers" "CMAKE_CXX_FLAGS=-ffile-prefix-map=$root/= -idirafter $python_headers -include cstdio" "$@"; do
    options+=(-C "cmake.define.$option")
  done
  rm -rf "$folder"{,-build}  # files keep the times that they have in the source distribution, so objects would seem newer
  CMAKE_BUILD_PARALLEL_LEVEL=$jobs _PYTHON_HOST_PLATFORM=linux-$machine SETUPTOOLS_EXT_SUFFIX=.cpython-311-$machine-linux-gnu.so \
    quietly wheel.log "$work/venv/bin/python" -m pip wheel --no-build-isolation --no-deps -v -w "$folder" \
    -C "cmake.args=--toolchain;$work/toolchain$kind.cmake" -C "build-dir=$folder-build" "${options[@]}" "$work/sdist"
  PATH=$work/venv/bin:$PATH quietly repair.log auditwheel repair --plat auto -w "$folder/repaired" "$folder"/*.whl
  [[ $(echo "$folder"/repaired/*.whl) == *"manylinux_${newest_glibc/./_}_$machine.whl" ]] ||
    die "a wheel needs another glibc than $newest_glibc: $(echo "$folder"/repaired/*.whl)"
}

make_wheels() {
  local wheel
  "$work/venv/bin/python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || die "wheels are built with Python 3.11, Debian 12's"
  quietly pip.log "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check -r packaging/requirements.txt
  make_sdist
  rm -rf "$work/licenses"
  add_licenses "$work/licenses"
  cp "$(echo "$work"/venv/lib/python3*/site-packages/nanobind-*.dist-info/licenses/LICENSE)" "$work/licenses/nanobind"
  # The programs are copied as they are. Ninja makes nothing again because of it.
  "$strip" "$work/portable$kind"/{shiplap,libshiplap_recorder.so} 2>/dev/null || "$strip" "$work/portable$kind/shiplap"
  # Types come from the module, which must run here for that.
  local folder=$out${kind:+/nocuda} stub=$work/_core.pyi
  if [ -z "$emulator" ]; then
    build_wheel wheel-3.11
    cp "$work/wheel-3.11-build/_core.pyi" "$stub"
  else
    unzip -p "$folder"/shiplap-"$version"-cp311-*_x86_64.whl shiplap/_core.pyi >"$stub" 2>"$work/stub.log" ||
      die "$folder has no wheel for x86_64, from which the types of the Python module are taken: make its packages first, there"
    build_wheel wheel-3.11 "SHIPLAP_STUB=$stub"
  fi
  build_wheel wheel-abi3 "SHIPLAP_ABI3_HEADERS=$python_headers/python3.13" "SHIPLAP_STUB=$stub"
  quietly tags.log "$work/venv/bin/python" -m wheel tags --remove --python-tag cp312 --abi-tag abi3 "$work"/wheel-abi3/repaired/*.whl
  # Without CUDA they have the same names, which pip gives them, so they stand apart.
  mkdir -p "$folder"
  wheels=()
  for wheel in "$work"/wheel-{3.11,abi3}/repaired/*.whl; do
    cp "$wheel" "$folder/"
    wheels+=("$folder/$(basename "$wheel")")
  done
  quietly twine.log "$work/venv/bin/python" -m twine check --strict "$sdist" "${wheels[@]}"
  printf '%s\n' "$sdist" "${wheels[@]}"
}

cuda_runtime_version() {
  local wheel
  wheel=$(find "$work/cuda-runtime" -name '*.whl' -printf '%f' 2>/dev/null | cut -d - -f 2)
  echo "${wheel:-$("$toolkit/bin/nvcc" --version | sed -n 's/.*, V//p')}"
}

# make_bill: the bill of materials of all packages
make_bill() {
  local zig parts=() name licence dsc
  zig=$(echo "$work"/venv/lib/python3*/site-packages/ziglang)
  while read -r name licence; do
    dsc=$(basename "$(echo "$work"/sources/"$name"_*.dsc)" .dsc)
    parts+=("$name:${dsc#*_}:$licence:pkg:deb/debian/$name@${dsc#*_}?arch=source")
  done <<<$'fmtlib MIT\nhwloc BSD-3-Clause\nsqlite3 blessing\nzlib Zlib'
  while read -r name licence; do
    parts+=("$(dpkg-query -W -f "\${source:Package}:\${source:Version}:$licence:pkg:deb/debian/\${source:Package}@\${source:Version}?arch=source" "$name")")
  done <<<$'nlohmann-json3-dev MIT\nlibcli11-dev BSD-3-Clause\nnode-d3 BSD-3-Clause'
  parts+=("LLVM-libc++-libc++abi-libunwind-compiler-rt:$(sed -n 's/^# *define _LIBCPP_VERSION //p' "$zig/lib/libcxx/include/__config"):Apache-2.0 WITH LLVM-exception:pkg:pypi/ziglang@$zig_version")
  parts+=("nanobind:$("$work/venv/bin/python" -c 'import nanobind; print(nanobind.__version__)'):BSD-3-Clause:")
  [ -z "$nvcc" ] || parts+=("CUDA-runtime:$(cuda_runtime_version):LicenseRef-NVIDIA-CUDA-EULA:")
  quietly bill.log "$work/venv/bin/python" packaging/sbom.py "$version" "$SOURCE_DATE_EPOCH" "$out/shiplap-$version$kind-linux-$machine.cdx.json" "${parts[@]}"
}
