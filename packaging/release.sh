#!/usr/bin/env bash
# Makes all of a release from the last commit, twice, compares the two byte for byte, and tags the commit. `./dev release`
# calls it, with SHIPLAP_CUDA and JOBS set.
# usage: packaging/release.sh OUTDIR
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root"
work=$root/build-release
version=$(sed -n 's/^#define SHIPLAP_VERSION "\(.*\)"$/\1/p' shiplap/version.h)
say() { printf '\n== %s\n' "$*"; }
die() { printf 'release: %s\n' "$*" >&2; exit 1; }

changes=$(git status --porcelain) || die "git does not answer (above)"
[ -z "$changes" ] || die "the tree has changes that are not committed: a release is made from a commit"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || die "the tag v$version exists: raise the version in shiplap/version.h"
notes=$(awk -v head="## [$version]" 'index($0, "## [") == 1 { shown = index($0, head) == 1; next } shown' CHANGELOG.md)
[ -n "$notes" ] || die "CHANGELOG.md has no section [$version]: give [Unreleased] this name and the date, and commit that"
grep -qx "version: $version" CITATION.cff || die "CITATION.cff has another version than shiplap/version.h, $version"

git var GIT_COMMITTER_IDENT >/dev/null || die "git has no name for the tag: git config user.name and user.email"
[ ! -e "$1" ] || [ -z "$(ls -A "$1")" ] || die "$1 is not empty: name a new folder"
[ "${SHIPLAP_CUDA:-auto}" = off ] || export SHIPLAP_CUDA=on  # no release lacks CUDA by accident

# Everything from nothing, in the same folder each time: the compiler of CUDA puts the names of folders into its code.
make_in() {
  local tree=$work/tree made=$work/$1
  rm -rf "$tree" "$made"
  git clone -q --no-tags "$root" "$tree"
  (cd "$tree" && ./dev package "$made" && SHIPLAP_MACHINE=aarch64 ./dev package "$made" && ./dev docs) || die "the release cannot be made (the messages are above)"
  tar -C "$tree/build" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" \
    --transform "s,^docs/html,shiplap-$version-documentation," -c docs/html | gzip -9n >"$made/shiplap-$version-documentation.tar.gz"
  printf '%s\n' "$notes" >"$made/CHANGES.md"
}

say "The release $version, first time"
make_in first
say "The release $version, second time"
make_in second

say "The two builds"
differ=0
while read -r name; do
  file=$work/first/$name
  if cmp -s "$file" "$work/second/$name"; then
    printf '%-60s %5s MB  same bytes in both builds\n' "$name" "$(du -m "$file" | cut -f 1)"
  else
    printf '%-60s %5s MB  DIFFERS: %s\n' "$name" "$(du -m "$file" | cut -f 1)" "$(cmp "$file" "$work/second/$name" 2>&1 | head -n 1)"
    differ=1
  fi
done < <(cd "$work/first" && find . -type f | sed 's,^\./,,' | LC_ALL=C sort)
# With CUDA 13.0 the programs differ: its compiler numbers the registers in the PTX of the convolution in one of several ways,
# also when the same command reads the same file again, and what lies behind that PTX has other addresses. The machine code
# for GPUs is the same, and so are the source distribution and the bill.
[ $differ = 0 ] || say "The files that DIFFER cannot be checked by building them again; both builds are in $work"

mkdir -p "$1"
out=$(cd "$1" && pwd -P)
cp -r "$work"/first/* "$out/"
(cd "$out" && find . -type f ! -name SHA256SUMS | sed 's,^\./,,' | LC_ALL=C sort | xargs -d '\n' sha256sum -- >SHA256SUMS)
git tag -a "v$version" -m "shiplap $version"
say "The release is in $out, with SHA256SUMS, and the commit has the tag v$version. Nothing is uploaded."
