#!/usr/bin/env bash
# run.sh PROGRAM TARGET OPTION…: fuzzes one target, from its corpus and from the inputs that earlier runs with KEEP=FOLDER
# have found. The options are those of libFuzzer. A failure says how to repeat it.
set -euo pipefail

program=$(realpath "$1")
target=$2
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work/$target"
crashes=$(dirname "$program")/crashes
mkdir -p "$crashes"

# No input is longer than 64 KiB, so what a reader may allocate for it is far below these limits. Freed memory that the
# address sanitizer keeps counts too.
limits=(-max_len=65536 -timeout=20 -rss_limit_mb=1024 -malloc_limit_mb=64)
export ASAN_OPTIONS=quarantine_size_mb=32:${ASAN_OPTIONS:-} UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS:-}
status=0
"$program" --target="$target" "${limits[@]}" -print_final_stats=1 -print_funcs=0 -verbosity=0 \
  -artifact_prefix="$crashes/$target-" "$@" "$work/$target" "$here/corpus/$target" 2>"$work/$target.log" || status=$?
if [ $status != 0 ]; then
  tail -n 60 "$work/$target.log" >&2
  input=$(sed -n 's/.*Test unit written to //p' "$work/$target.log" | tail -n 1)
  printf '\nTarget %s failed (above): %s\nTo repeat it:\n  %s --target=%s %s\n' "$target" \
    "$(grep -m 1 -E '^shiplap_fuzz: |ERROR: |runtime error: ' "$work/$target.log" || echo "exit status $status")" \
    "$program" "$target" "${input:-(no input was written)}" >&2
  exit 1
fi
sed -n "s/^stat::number_of_executed_units: */$target: inputs run: /p" "$work/$target.log"
