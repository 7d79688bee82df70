#!/bin/sh
# The administrator of a small cluster: may this node take jobs? Exit code 0: yes; 1: drain it. Arguments: devices.
# Needs shiplap in the PATH, or its path in SHIPLAP. A node that is busy or could not be checked may take jobs.
export PATH="${PATH:-/usr/bin:/bin}"
export CUDA_DEVICE_ORDER=PCI_BUS_ID
shiplap=${SHIPLAP:-shiplap}
verdict=0
lines=
if [ $# -eq 0 ]; then
  if [ -n "$SLURM_JOB_GPUS" ]; then
    for gpu in $(echo "$SLURM_JOB_GPUS" | tr ',' ' '); do set -- "$@" "cuda:$gpu"; done
  else
    set -- virtual:h200
  fi
fi
for device in "$@"; do
  line=$("$shiplap" check --device "$device" --budget 30s --line 2>&1)
  code=$?
  case $code in
    0 | 1) ;;                                         # good, low, busy; unknown
    2) verdict=1 ;;                                   # bad
    *) line="UNKNOWN $device: exit code $code: $line" ;;  # a mistake in this script drains no node
  esac
  lines="${lines:+$lines; }$line"
done
lines=$(printf %s "$lines" | tr '\n' ' ')
if [ $verdict -eq 0 ]; then echo "take jobs: $lines"; else echo "drain: $lines"; fi
exit $verdict
