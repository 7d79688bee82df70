# Tests the packages in bare root file systems, which mmdebstrap makes, in name spaces of their own. Read by package.sh.
# shellcheck shell=bash disable=SC2154

roots=$work/roots
as_root=()
[ "$(id -u)" = 0 ] || as_root=(--user --map-root-user --map-auto)

answers() { /usr/lib/apt/apt-helper -o Acquire::http::Timeout=15 -o Acquire::Retries=0 download-file "$1/Release" "$work/Release" >/dev/null 2>&1; }

# make_root NAME URL VARIANT OPTION…: build-package/roots/NAME.tar; fails when the archive does not answer
make_root() {
  local name=$1 url=$2 variant=$3
  shift 3
  mkdir -p "$roots"
  if [ -s "$roots/$name.tar" ] && [ "$variant ${*//*keyring=*/}" = "$(cat "$roots/$name.made" 2>/dev/null)" ]; then return; fi
  answers "$url/dists/$name" || return 1
  quietly "root-$name.log" mmdebstrap --variant="$variant" "$@" "$name" "$roots/$name.part.tar" "$url"
  mv "$roots/$name.part.tar" "$roots/$name.tar"
  echo "$variant ${*//*keyring=*/}" >"$roots/$name.made"  # the name of a keyring's file differs each time
}

# in_root NAME COMMAND: unpacks the root into a folder that is gone afterwards, and runs the bash command with $root_dir as
# root of that root. Who is not root is so in a name space for users.
in_root() {
  local status=0 dir
  dir=$(mktemp -d "$work/root.XXXXXX")
  # shellcheck disable=SC2016
  unshare "${as_root[@]}" --mount --pid --fork bash -euc '
    root_dir=$1
    mount -t tmpfs -o mode=755 tmpfs "$root_dir"
    tar -C "$root_dir" --exclude="./dev/*" -xf "$2"
    mkdir -p "$root_dir"/{proc,dev,sys,tmp}
    chmod 1777 "$root_dir/tmp"
    mount -t proc proc "$root_dir/proc"
    mount -t proc proc /proc  # for what runs beside the root, as proot does
    mount --rbind /sys "$root_dir/sys"
    for node in null zero urandom; do touch "$root_dir/dev/$node"; mount --bind "/dev/$node" "$root_dir/dev/$node"; done
    '"$2" bash "$dir" "$roots/$1.tar" "${@:3}" </dev/null || status=$?
  rmdir "$dir"
  return $status
}

# enter COMMAND…: in the root; programs of another machine run in qemu, with the paths of the root by proot, as whoever runs
# this. as_nobody SCRIPT ARGUMENT: as nobody, with a home that does not exist, in a root that nobody can write to but for /tmp.
# shellcheck disable=SC2016
as_nobody='
enter() { if [ -z "$emulator" ]; then chroot --userspec="${user:-0:0}" "$root_dir" "$@"; else proot -q "${emulator%% *}" -r "$root_dir" -w / "$@"; fi; }
glibc() { printf "%-6s " "$(enter "/lib/$machine-linux-gnu/libc.so.6" | sed -n "1s/.*version \([0-9.]*[0-9]\).*/\1/p")"; }
as_nobody() {
  glibc
  mount -t tmpfs tmpfs "$root_dir/tmp"
  chmod 1777 "$root_dir/tmp"
  cp "packaging/$1" "$root_dir/test.sh"
  mount -o remount,ro "$root_dir"
  user=65534:65534 enter /usr/bin/env -i HOME=/nonexistent PATH=/usr/bin:/bin /bin/sh /test.sh "$2"
  mount -o remount,rw "$root_dir"
}'

smoke_rows=()
# smoke NAME PACKAGE COMMAND…: a row of the table
smoke() {
  local name=$1 package=$2 outcome
  shift 2
  if ! outcome=$(in_root "$name" "$@" 2>"$work/smoke.log"); then
    cat "$work/smoke.log" >&2
    die "$(basename "$package") fails in a bare $name: $outcome"
  fi
  outcome=${outcome//$'\n'/ }
  smoke_rows+=("$(printf '%-60s %4s MB  %-15s %s' "$(basename "$package")" "$(du -m "$package" | cut -f 1)" "$name" "$outcome")")
}

# shellcheck disable=SC2016
smoke_tarball="$as_nobody"'
mkdir "$root_dir/opt/anywhere" 2>/dev/null || mkdir -p "$root_dir/opt/anywhere"
tar -C "$root_dir/opt/anywhere" --strip-components=1 -xzf "$3"
as_nobody in_root.sh /opt/anywhere/bin'

# Installed, run, removed and purged: what was in /usr and /etc before is there afterwards, and nothing else.
# shellcheck disable=SC2016
smoke_deb="$as_nobody"'
if [ -n "$emulator" ]; then  # nothing can be installed there
  dpkg-deb -x "$3" "$root_dir"
  as_nobody in_root.sh /usr/bin
  echo unpacked
  exit
fi
cp /etc/resolv.conf "$root_dir/etc/resolv.conf" 2>/dev/null || true
cp "$3" "$root_dir/shiplap.deb"
inside() { chroot "$root_dir" env DEBIAN_FRONTEND=noninteractive "$@" </dev/null; }
everything() { (cd "$root_dir" && find usr etc var/lib/dpkg/info ! -name "ld.so.cache*" ! -name "*.pyc" | sort); }
inside apt-get -qq -o Dpkg::Use-Pty=0 update >&2
everything >"$root_dir.before"
inside apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends /shiplap.deb >&2
as_nobody in_root.sh /usr/bin
name=$(inside dpkg-deb -f /shiplap.deb Package)
inside dpkg -L "$name" | while read -r file; do [ ! -f "$root_dir$file" ] || echo "$file"; done >"$root_dir.files"
inside apt-get -qq -o Dpkg::Use-Pty=0 remove -y "$name" >&2
while read -r file; do [ ! -e "$root_dir$file" ] || { echo "$file is left" >&2; exit 1; }; done <"$root_dir.files"
inside apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends /shiplap.deb >&2
inside apt-get -qq -o Dpkg::Use-Pty=0 purge -y --autoremove "$name" >&2
everything | diff "$root_dir.before" - >&2 || { echo "purging left what apt installed, or took more" >&2; exit 1; }
rm "$root_dir.before" "$root_dir.files"
echo "installed removed purged"'

# As pip installs the wheel, from a folder of wheels and nothing else.
# shellcheck disable=SC2016
smoke_wheel="$as_nobody"'
cp -r "$3" "$root_dir/wheels"
as_nobody in_root_python.sh /wheels'

# A root as old as this has no Python that is new enough: its dynamic linker finds every symbol but those of Python.
# shellcheck disable=SC2016
smoke_old_wheel="$as_nobody"'
mkdir -p "$root_dir/opt"
unzip -q "$3" -d "$root_dir/opt/wheel"
glibc
module=$(cd "$root_dir" && echo opt/wheel/shiplap/_core.*.so)
enter /usr/bin/env LD_TRACE_LOADED_OBJECTS=1 LD_WARN=1 LD_BIND_NOW=1 "$loader" "/$module" >"$root_dir/symbols" 2>&1
if grep -vE "undefined symbol: _?Py" "$root_dir/symbols" | grep -E "undefined|not found" >&2; then exit 1; fi
enter /opt/wheel/shiplap/bin/shiplap --version >&2
echo "symbols program"'

# smoke_wheels OLDEST: with the Python of each release; numpy and pip are the wheels that PyPI has for it
smoke_wheels() {
  local oldest=$1 release python wheel folder
  while read -r release python; do
    [ -s "$roots/$release.tar" ] || { echo "LEFT OUT: Python $python of $release."; continue; }
    wheel=${wheels[1]}
    [ "$python" != 3.11 ] || wheel=${wheels[0]}
    folder=$work/wheels-$python
    rm -rf "$folder"
    quietly pip.log "$work/venv/bin/python" -m pip download --quiet --disable-pip-version-check --only-binary :all: --python-version "$python" \
      --platform "manylinux_${newest_glibc/./_}_$machine" --platform "manylinux_2_17_$machine" -d "$folder" numpy pip
    cp "${wheels[@]}" "$folder/"  # pip takes the one that fits
    smoke "$release" "$wheel" "$smoke_wheel" "$folder"
  done <<<$'bookworm 3.11\nnoble 3.12\ntrixie 3.13'
  for wheel in "${wheels[@]}"; do smoke "$oldest" "$wheel" "$smoke_old_wheel" "$wheel"; done
}

# make_roots: sets `oldest` to the one with the oldest glibc, and `oldest_debian` to that of the oldest Debian. All with python3
# have what NumPy needs.
make_roots() {
  local keyring release libc=("--include=libc6,dash,coreutils")
  local complete="${libc[0]},base-files,libstdc++6,python3"
  if [ -n "$emulator" ]; then  # unpacked, because nothing of these can run while they are made
    for release in trixie bookworm bullseye; do
      if make_root "$release" http://deb.debian.org/debian extract "--architectures=$debian" "$complete"; then oldest=$release; fi
    done
    [ -n "$oldest" ] || die "deb.debian.org does not answer"
    oldest_debian=$oldest
    echo "LEFT OUT: roots with glibc 2.27 to 2.30, which Debian no longer has for $machine. $oldest is the oldest."
    return
  fi
  # What these hold beside apt is for the wheels, and the next roots.
  make_root trixie http://deb.debian.org/debian apt --include=python3,ubuntu-archive-keyring || die "deb.debian.org does not answer"
  make_root bookworm http://deb.debian.org/debian apt --include=python3 || die "deb.debian.org does not answer"
  oldest_debian=bookworm
  if make_root bullseye http://deb.debian.org/debian apt; then oldest_debian=bullseye; fi
  # apt reads it as a user of its own, which folders of others may be closed to.
  keyring=$(mktemp --suffix=.gpg)
  tar -xOf "$roots/trixie.tar" ./usr/share/keyrings/ubuntu-archive-keyring.gpg >"$keyring"
  chmod a+r "$keyring"
  # Debian 10 has glibc 2.28, Ubuntu 18.04 has 2.27, Debian 11 has 2.31.
  if make_root buster http://archive.debian.org/debian extract "${libc[@]}" --keyring=/usr/share/keyrings/debian-archive-removed-keys.gpg; then
    oldest=buster
  elif make_root bionic http://archive.ubuntu.com/ubuntu extract "${libc[@]}" --components=main --keyring="$keyring"; then
    oldest=bionic
    echo "LEFT OUT: Debian 10 with glibc 2.28 (archive.debian.org does not answer). Ubuntu 18.04 with the older 2.27 stands in."
  else
    oldest=$oldest_debian
    echo "LEFT OUT: roots with glibc 2.27 or 2.28 (archive.debian.org and archive.ubuntu.com do not answer)."
    echo "$oldest is the oldest one tested; that nothing needs a symbol above $newest_glibc is checked in the binaries alone."
  fi
  # A root of this release is not complete without base-files.
  make_root noble http://archive.ubuntu.com/ubuntu extract "$complete" --components=main --keyring="$keyring" || true
  rm "$keyring"
}

smoke_all() {
  local oldest="" oldest_debian=""
  unshare "${as_root[@]}" --mount true ||
    die "name spaces are not allowed here, so the packages are made and not tested in bare roots: $tarball $deb"
  make_roots
  smoke "$oldest" "$tarball" "$smoke_tarball" "$tarball"
  smoke trixie "$tarball" "$smoke_tarball" "$tarball"
  smoke "$oldest_debian" "$deb" "$smoke_deb" "$deb"
  smoke trixie "$deb" "$smoke_deb" "$deb"
  smoke_wheels "$oldest"
  say "Packages in $out"
  printf '%-60s %7s  %-15s %-6s %s\n' package size root glibc passed
  printf '%s\n' "${smoke_rows[@]}"
}
