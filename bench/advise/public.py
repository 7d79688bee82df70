#!/usr/bin/env python3
"""Advise unmodified public programs by the recorder and, where they are in Python, by a trace of the PyTorch profiler.

  public.py FOLDER OUT [--shiplap PATH] [--profile NAME] [--seconds S]

FOLDER/list.txt has a line for each program: name, source, command, which runs in FOLDER/name; separated by tabs. A
name that ends with `_pinned` is the program before it, changed by hand as the first advice says: the error is that of
the step that was predicted with this advice alone, without what it costs once, over the step that was recorded then.
OUT/public.txt gets the table and what `shiplap advise` says of each program.
"""

import argparse
import json
import shlex
import subprocess
import sys
import time
from pathlib import Path

PROFILED = Path(__file__).with_name("profiled.py")
MILLISECONDS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3}


def call(command: str, folder: Path, seconds: float) -> tuple[int, str, str]:
    """Run a command, and return its exit status and what it wrote to stdout and stderr."""
    ended = f"timeout --signal=KILL {seconds:.0f} bash -c {shlex.quote(command)}"  # with all that it has started
    done = subprocess.run(ended, cwd=folder, shell=True, capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout, done.stderr


def quantity(value: dict) -> float:
    return float(value["value"]) * MILLISECONDS[value["unit"]]


def advice(shiplap: Path, profile: str, recording: Path) -> tuple[dict, str]:
    """Return the advice for a recording as JSON (empty when there is none), and as text."""
    _, text, notes = call(f"{shiplap} advise {recording} --profile {profile}", recording.parent, 120)
    status, document, _ = call(f"{shiplap} advise {recording} --profile {profile} --json", recording.parent, 120)
    return (json.loads(document) if status == 0 and document.startswith("{") else {}), notes + text


def row(name: str, way: str, found: dict, followed: float | None) -> str:
    """Return the line of the table: the recorded step, those with the first and with all advice, and the advice.

    A program that was changed by hand has the error of `followed`, the step that was predicted for it.
    """
    if not found or found["refused"]:
        return f"{name:22}{way:10}{'':30}  no advice: see below"
    recorded = quantity(found["step"])
    steps = [quantity(one[key]) for one, key in firsts_and_last(found["advice"])]
    predicted = "".join(f"{one:10.3f}" for one in steps) or " " * 20
    if followed is not None:
        predicted = f"{f'{followed:.3f} ({followed / recorded - 1:+.1%})':>20}"
    what = ", ".join(one["rule"] for one in found["advice"]) or f"nothing: {found['limit']}"
    return f"{name:22}{way:10}{recorded:10.3f}{predicted}  {what[:100]}"


def firsts_and_last(advice: list[dict]) -> list[tuple[dict, str]]:
    """Return the first piece of advice alone, and the last one with all before it."""
    if not advice:
        return []
    return [(advice[0], "step"), (advice[-1], "with_before" if advice[-1].get("with_before") else "step")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--shiplap", type=Path, default=Path("build/shiplap"))
    parser.add_argument("--profile", default="h200")
    parser.add_argument("--seconds", type=float, default=1e9)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    shiplap, end = options.shiplap.resolve(), time.monotonic() + options.seconds
    table = [f"{'program':22}{'by':10}{'recorded':>10}{'first':>10}{'all':>10}  advice (times in ms a step)"]
    said: list[str] = []
    first: dict[str, float] = {}

    def show(name: str, way: str, recording: Path, ended: tuple[int, str, str]) -> None:
        status, _, notes = ended
        found, text = advice(shiplap, options.profile, recording) if recording.exists() else ({}, notes[-400:])
        if found and found["advice"] and way == "recorder":
            first[name] = quantity(found["advice"][0]["step"])
            # A step that runs once contains what pinning costs. The changed program pins before its step.
            if found["left_out"]:
                first[name] -= quantity(found["advice"][0]["once"])
        before = name.removesuffix("_pinned")
        table.append(row(name, way, found, first.get(before) if before != name else None))
        said.append(f"== {name}, {way} (exit status {status})\n{text.strip()}")
        print(table[-1], flush=True)
        (options.out / "public.txt").write_text("\n".join(["\n".join(table), "", *said, ""]))

    print(table[0])
    for line in (options.folder / "list.txt").read_text().splitlines():
        name, _, command = line.split("\t")[:3]
        if time.monotonic() > end:
            print(f"no time for {name}", file=sys.stderr)
            continue
        folder, recording = options.folder / name, Path(f"/tmp/{name}.jsonl")
        recorded = f"{shiplap} advise --profile {options.profile} --record {recording} -- {command}"
        show(name, "recorder", recording, call(recorded, folder, 60))
        if " python3 " in f" {command}" and not name.endswith("_pinned"):
            script = command.split("python3 ", 1)[1]
            trace = Path(f"/tmp/{name}.json")
            show(name, "profiler", trace, call(f"{sys.executable} {PROFILED} {trace} 12 {script}", folder, 90))


if __name__ == "__main__":
    main()
