#!/usr/bin/env bash
# Makes the packages of shiplap and tests them in bare root file systems. `./dev package` calls it, with
# SHIPLAP_CUDA, SHIPLAP_MACHINE and JOBS set.
# usage: packaging/package.sh OUTDIR
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root"
mkdir -p "$1" build-package
out=$(cd "$1" && pwd -P)
# Whose packages are made. Those of an Arm machine are tested through qemu.
machine=${SHIPLAP_MACHINE:-x86_64}
work=$root/build-package
debian=amd64 loader=/lib64/ld-linux-x86-64.so.2 emulator="" strip=strip
if [ "$machine" = aarch64 ]; then
  work=$root/build-package/aarch64
  debian=arm64 loader=/lib/ld-linux-aarch64.so.1 emulator="qemu-aarch64-static -L /usr/aarch64-linux-gnu" strip=aarch64-linux-gnu-strip
  mkdir -p "$work"
elif [ "$machine" != x86_64 ]; then
  echo "package: SHIPLAP_MACHINE=$machine: give x86_64 or aarch64" >&2
  exit 2
fi
export machine loader emulator  # what runs in roots reads them
jobs=${JOBS:-$(nproc)}
newest_glibc=2.27  # of Ubuntu 18.04, the oldest root that can be tested where archive.debian.org does not answer
version=$(sed -n 's/^#define SHIPLAP_VERSION "\(.*\)"$/\1/p' shiplap/version.h)
maintainer="${DEBFULLNAME:-shiplap} <${DEBEMAIL:-shiplap@localhost}>"  # whoever makes the package
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)

say() { printf '\n== %s\n' "$*"; }
die() { printf 'package: %s\n' "$*" >&2; exit 1; }
# quietly LOG COMMAND…: the output goes to build-package/LOG and is shown when the command fails.
quietly() {
  local log=$work/$1
  shift
  "$@" >"$log" 2>&1 </dev/null || { tail -n 60 "$log" >&2; die "$1 failed (the end of its messages is above; $log has all)"; }
}

# shellcheck source=packaging/libraries.sh
. packaging/libraries.sh
# shellcheck source=packaging/wheels.sh
. packaging/wheels.sh
# shellcheck source=packaging/smoke.sh
. packaging/smoke.sh

# --- what is built ----------------------------------------------------------------------------------------------------

find_nvcc() {
  local folder
  [ "${SHIPLAP_CUDA:-auto}" != off ] || return 0
  command -v nvcc && return
  for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda; do
    [ ! -x "$folder/bin/nvcc" ] || { echo "$folder/bin/nvcc"; return; }
  done
}

# The architectures that this nvcc knows, in machine code, and the newest also as PTX for GPUs to come. The kernels need 80.
cuda_architectures() {
  local known one list=()
  known=$("$toolkit/bin/nvcc" --list-gpu-code)
  for one in 80 86 89 90 100 120; do
    if grep -qx "sm_$one" <<<"$known"; then list+=("$one-real"); fi
  done
  list[-1]=${list[-1]%-real}
  (IFS=';'; echo "${list[*]}")
}

nvcc=$(find_nvcc)
toolkit=${nvcc:+$(dirname "$(dirname "$(readlink -f "$nvcc")")")}
if [ -n "$nvcc" ] && [ "$machine" = aarch64 ] && [ ! -e "$toolkit/targets/sbsa-linux/lib/libcudart_static.a" ]; then
  nvcc=$work/cuda/bin/nvcc  # which prepare_cuda makes
fi
kind=""
cuda_options=(-D SHIPLAP_CUDA=off)
if [ -n "$nvcc" ]; then
  say "Packages with CUDA: $("$toolkit/bin/nvcc" --version | sed -n 's/^Cuda compilation tools, //p')"
  # nvcc puts the names of temporary files into objects: beside the object they are the same in every build.
  cuda_options=(-D SHIPLAP_CUDA=on -D "CMAKE_CUDA_COMPILER=$nvcc" -D "CMAKE_CUDA_FLAGS=-Xcompiler=-ffile-prefix-map=$root/= --objdir-as-tempdir"
                -D "CMAKE_CUDA_ARCHITECTURES=${SHIPLAP_CUDA_ARCHITECTURES:-$(cuda_architectures)}")
elif [ "${SHIPLAP_CUDA:-auto}" = on ]; then
  die "SHIPLAP_CUDA=on, but no nvcc on the PATH, in CUDA_HOME, CUDA_PATH or /usr/local/cuda"
else
  kind=-nocuda
  say "Packages without CUDA, named so: no toolkit is found or wanted, so they open virtual devices only"
fi

# build DIR OPTION…: the programs alone, as a release
build() {
  local dir=$work/$1
  shift
  quietly configure.log cmake -S . -B "$dir" -G Ninja -D CMAKE_BUILD_TYPE=Release -D SHIPLAP_UNITY=ON -D SHIPLAP_MPI=off \
    -D SHIPLAP_TESTS=OFF -D SHIPLAP_BENCH=OFF -D SHIPLAP_EXAMPLES=OFF -D CMAKE_INSTALL_LIBDIR=lib \
    -D CMAKE_CXX_FLAGS="-ffile-prefix-map=$root/=" "${cuda_options[@]}" "$@"
  grep -q '^SHIPLAP_D3:.*d3' "$dir/CMakeCache.txt" || die "D3 is not found, and packages write reports: install node-d3"
  cmake --build "$dir" --parallel "$jobs"
}

# make_man_pages FOLDER: a page of the program in FOLDER/bin, and one of each of its commands
make_man_pages() {
  local pages=$1/share/man/man1 command summary
  page() {
    env -u COLUMNS help2man --no-info --no-discard-stderr --help-option="$2" --version-string="shiplap $version" --name="$3" "$4" |
      gzip -9n >"$pages/$1.1.gz"
  }
  local bin="${emulator:+$emulator }$1/bin"
  mkdir -p "$pages"
  page shiplap --help "measure and plan how data moves between host and GPU" "$bin/shiplap"
  while IFS=$'\t' read -r command summary; do
    [ "$command" != reproduce ] || continue  # shiplap-reproduce has a page of its own
    page "shiplap-$command" --help-all "$summary" "$bin/shiplap $command"
  done < <($emulator "$1/bin/shiplap" complete -- "")
  page shiplap-reproduce --help-all "reproduce the experiments of papers" "$bin/shiplap-reproduce"
}

# --- the tarball ------------------------------------------------------------------------------------------------------

# What keeps a program from running where only an old glibc is; nothing when it runs.
binary_problems() {
  local library symbol
  while read -r library; do
    case $library in
      libc.so.6 | libm.so.6 | libpthread.so.0 | libdl.so.2 | librt.so.1 | "${loader##*/}") ;;
      *) echo "$1 needs $library, which is not glibc's" ;;
    esac
  done < <(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  symbol=$(newest_symbol "$1")
  [ "$(printf '%s\n' "$newest_glibc" "$symbol" | sort -V | tail -n 1)" = "$newest_glibc" ] ||
    echo "$1 needs a symbol of glibc $symbol, which is newer than $newest_glibc"
  if readelf -d "$1" | grep -qE 'RPATH|RUNPATH'; then echo "$1 has a path to libraries"; fi
  if grep -qF "$root" "$1"; then echo "$1 names the folder that it was built in"; fi
}
newest_symbol() { readelf --dyn-syms -W "$@" | grep -oE '@GLIBC_[0-9.]+' | sed 's/@GLIBC_//' | sort -Vu | tail -n 1; }

make_tarball() {
  local name=shiplap-$version$kind-linux-$machine binary problems=""
  local tree=$work/tree/$name
  rm -rf "$work/tree"
  quietly install.log env DESTDIR="$tree" cmake --install "$work/portable$kind" --prefix / --component program --strip
  add_licenses "$tree/share/doc/shiplap/licenses"
  sed "s/@VERSION@/$version/g; s/@MACHINE@/$machine/g" packaging/README.md >"$tree/README.md"
  cp LICENSE "$tree/"
  make_man_pages "$tree"
  for binary in "$tree"/bin/* "$tree"/lib/shiplap/*; do
    [ ! -f "$binary" ] || problems+=$(binary_problems "$binary" | sed "s|^|\n|")
  done
  [ -z "$problems" ] || die "the tarball would not run everywhere: $problems"
  tarball=$out/$name.tar.gz
  tar -C "$work/tree" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -c "$name" | gzip -9n >"$tarball"
  echo "$tarball: no symbol above GLIBC_$(newest_symbol "$tree/bin/shiplap"), no library but glibc's"
}

# --- the Debian package -----------------------------------------------------------------------------------------------

# The portable program, where dpkg puts programs. It needs glibc alone, so one package serves several releases.
make_deb() {
  local name=shiplap$kind tree=$work/deb-tree doc depends
  rm -rf "$tree"
  quietly install.log env DESTDIR="$tree" cmake --install "$work/portable$kind" --prefix /usr --component program --strip
  doc=$tree/usr/share/doc/$name
  [ -d "$doc" ] || mv "$tree/usr/share/doc/shiplap" "$doc"
  rm "$doc/LICENSE"
  add_licenses "$doc/licenses"
  cat packaging/copyright /usr/share/doc/{node-d3,nlohmann-json3-dev,libcli11-dev}/copyright "$prefix"/licenses/* >"$doc/copyright"
  mkdir -p "$tree/usr/share/lintian/overrides"
  printf '# The program is built for hosts whose libraries are older or newer, so it holds its own.\n%s: embedded-library *\n' "$name" \
    >"$tree/usr/share/lintian/overrides/$name"
  printf 'shiplap (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md of the sources.\n\n -- %s  %s\n' "$version" "$maintainer" \
    "$(date -R -u -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.gz"
  make_man_pages "$tree/usr"
  # It needs symbols of glibc alone (binary_problems), so it can be installed wherever these are.
  depends="libc6 (>= $(find "$tree" -type f \( -path '*/bin/*' -o -name '*.so' \) -print0 | xargs -0 bash -c "$(declare -f newest_symbol)"'; newest_symbol "$@"' bash))"
  mkdir -p "$tree/DEBIAN"
  cat >"$tree/DEBIAN/control" <<CONTROL
Package: $name
Version: $version
Architecture: $debian
Maintainer: $maintainer
Section: utils
Priority: optional
Depends: $depends
${kind:+Provides: shiplap
Conflicts: shiplap
Replaces: shiplap
}Installed-Size: $(du -sk --exclude=DEBIAN "$tree" | cut -f 1)
Description: measure and plan how data moves between host and GPU
 shiplap measures how a node moves bytes between host and GPU, predicts every
 way to cut a kernel's work into chunks and to overlap copies with kernels, and
 runs the best one. $([ -z "$kind" ] && echo "GPUs need the NVIDIA driver alone." || echo "This build opens simulated GPUs only.")
CONTROL
  (cd "$tree" && find usr -type f -exec md5sum {} + | LC_ALL=C sort -k 2) >"$tree/DEBIAN/md5sums"
  chmod -R u=rwX,go=rX "$tree"
  deb=$out/${name}_${version}_$debian.deb
  quietly deb.log dpkg-deb --root-owner-group --build "$tree" "$deb"
  echo "$deb: depends on $depends"
  lintian --allow-root --fail-on error --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog "$deb" || die "lintian finds errors"
}

say "The libraries that the portable program holds"
prepare_libraries
say "The portable program"
build "portable$kind" --toolchain "$work/toolchain$kind.cmake"
make_tarball
make_deb
say "The wheels"
make_wheels
make_bill
say "In bare root file systems"
smoke_all
