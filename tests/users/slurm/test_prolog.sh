#!/bin/sh
# Whoever maintains prolog.sh: a healthy node takes jobs, one with half its link is drained, one without a GPU takes jobs.
# Arguments: the device, the program shiplap.
set -u
device=${1:-virtual:h200}
SHIPLAP=${2:-${SHIPLAP:-shiplap}}
export SHIPLAP
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$SHIPLAP" profiles show h200 --json > "$folder/h200.json" || exit 1
python3 - "$folder" <<'PYTHON' || exit 1
import json, sys
profile = json.load(open(sys.argv[1] + "/h200.json"))
for copies in (profile["links"][0]["h2d"], profile["links"][0]["d2h"]):
    for rate in (copies["per_byte"], copies["duplex"]["per_byte"]):
        for end in ("value", "low", "high"):
            rate[end] *= 2
json.dump(profile, open(sys.argv[1] + "/sick.json", "w"))
PYTHON
expect() {
  wanted=$1 start=$2
  shift 2
  line=$("$here/prolog.sh" "$@")
  code=$?
  [ $code -eq "$wanted" ] && [ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] && case $line in "$start"*) true ;; *) false ;; esac && return
  echo "exit code $code instead of $wanted: $line" >&2
  exit 1
}
expect 0 "take jobs: OK" "$device"
expect 1 "drain: BAD" "virtual:$folder/sick.json"
expect 1 "drain: OK" "$device" "virtual:$folder/sick.json"
expect 0 "take jobs: UNKNOWN" cuda:99
echo "prolog.sh is right on 4 nodes"
