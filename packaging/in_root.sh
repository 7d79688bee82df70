#!/bin/sh
# Runs in a bare root file system, as a user who owns nothing: shiplap as a user has it, without a GPU. The only argument is
# the folder of the program.
set -eu
bin=$1
work=$(mktemp -d /tmp/shiplap-smoke.XXXXXX)
cd "$work"
# expect TEXT COMMAND…: the command succeeds, and its output holds the text
expect() {
  text=$1
  shift
  if ! output=$("$@" 2>&1); then
    echo "$* failed: $output" >&2
    exit 1
  fi
  case $output in
    *"$text"*) ;;
    *) echo "$* printed no '$text': $output" >&2; exit 1 ;;
  esac
  printf '%s ' "${step:=}"
}
step=version expect "formats  " "$bin/shiplap" --version
step=devices expect "demo simulate virtual:h200" "$bin/shiplap" devices
step=plan expect "streams" "$bin/shiplap" plan saxpy:n=64Mi --device virtual:h200
step=run expect "VERIFIED" "$bin/shiplap" run saxpy:n=4Mi --device virtual:h200
"$bin/shiplap" profiles show h200 --json >h200.json
step=report expect "" "$bin/shiplap" report h200.json -o report.html
[ -s report.html ]
mkdir nodes
step=check expect "" "$bin/shiplap" check --device virtual:h200 --json
printf '%s' "$output" >nodes/a.json
cp nodes/a.json nodes/b.json
step=fleet expect "" "$bin/shiplap" fleet collect nodes
step=reproduce expect "werkhoven2014" "$bin/shiplap" reproduce
rm -r "$work"
