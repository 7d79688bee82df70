#!/usr/bin/env python3
"""Run the programs of this folder before and after advice was followed, and compare with what was predicted.

  compare.py OUT [--shiplap PATH] [--programs FOLDER] [--rounds N] [--only NAME]

Each round runs a program as it was (`before`), the same under `shiplap advise`, and the version that follows the advice
by hand (`after`), one after the other. Medians of the rounds are compared; times are
those of a step without recording, and predictions are scaled by the recorded step. "best" is with all advice that
`shiplap advise` gives, "followed" with the advice that `after` follows. OUT gets a recording for each program
(of the first round), the advice as JSON, and `compare.json`; the table is printed. CUDA programs are those that
`cmake --build build --target advise_programs` has built, in the folder build/bench/advise.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

# The advice that `after` follows, and numbers of steps before and after that take one or two seconds.
FOLLOWED = {
    "cupy_arrays": ["pin", "write into pinned memory"],
    "jax_steps": ["keep on the GPU"],
    "managed": ["prefetch managed memory"],
    "saxpy": ["pin", "allocate once", "chunks on streams"],
    "serial": ["chunks on streams"],
    "small_copies": ["batch copies"],
    "stencil": ["drop waits"],
    "torch_inference": ["pin", "overlap steps"],
    "torch_loader": ["pin", "copy asynchronously"],
    "torch_weights": ["keep on the GPU"],
}
STEPS = {
    "cupy_arrays": (60, 600),
    "cupy_resident": (1000, 1000),
    "jax_steps": (120, 250),
    "managed": (40, 80),
    "pipelined": (250, 250),
    "saxpy": (50, 300),
    "serial": (150, 250),
    "small_copies": (1500, 10000),
    "stencil": (3000, 6000),
    "torch_inference": (300, 1500),
    "torch_loader": (120, 150),
    "torch_matmul": (500, 500),
    "torch_weights": (300, 3000),
}


def command_of(source: Path, programs: Path) -> list[str]:
    if source.suffix == ".py":
        return [sys.executable, str(source)]
    return [str(programs / f"advise_{source.stem}")]


def last_json(text: str) -> dict:
    """The last line of a program that is a JSON object."""
    lines = [line for line in text.splitlines() if line.startswith("{")]
    return json.loads(lines[-1])


def run(command: list[str]) -> dict:
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} exits with {result.returncode}:\n{result.stderr[-2000:]}")
    return last_json(result.stdout)


def step_ms(result: dict) -> float:
    return result["total_ms"] / result["steps"]


def shown(advice: dict, program: str) -> dict:
    """The advice for the results: with the name of the program instead of its command line, and without timelines."""
    kept = {key: value for key, value in advice.items() if not key.endswith("_timeline")}
    return {**kept, "program": program}


def advise(shiplap: str, profile: list[str], command: list[str], recording: Path, advice: Path) -> dict:
    """Run the program under `shiplap advise`; return what the program says and the advice."""
    record = ["--record", str(recording), "--svg", str(advice.with_suffix(".svg"))]
    result = subprocess.run(
        [shiplap, "advise", *profile, *record, "--json", "--", *command], capture_output=True, text=True, timeout=600
    )
    if result.returncode != 0:
        raise RuntimeError(f"advise {' '.join(command)} exits with {result.returncode}:\n{result.stderr[-2000:]}")
    begin = re.search(r'^{\s*"schema"', result.stdout, re.MULTILINE).start()
    found = json.loads(result.stdout[begin:])
    advice.write_text(json.dumps(found, indent=1))
    return {"program": last_json(result.stdout[:begin]), "advice": found}


def predict(shiplap: str, profile: list[str], recording: Path, rules: list[str]) -> dict:
    """What these changes are predicted to do; `refused` has the reason where they do not apply."""
    only = [word for rule in rules for word in ("--only", rule)]
    result = subprocess.run(
        [shiplap, "advise", *profile, *only, "--json", str(recording)], capture_output=True, text=True, timeout=300
    )
    return json.loads(result.stdout) if result.returncode == 0 else {"refused": result.stderr, "advice": []}


def measure(source: Path, arguments: argparse.Namespace) -> dict:
    command = command_of(source, arguments.programs)
    fine = source.parent.name == "fine"
    times: dict[str, list[float]] = {"before": [], "recorded": [], "after": []}
    first, followed = None, None
    before, after = (
        [*command, version, "--steps", str(n)]
        for version, n in zip(("before", "after"), STEPS[source.stem], strict=True)
    )
    for number in range(arguments.rounds):
        times["before"].append(step_ms(run(before)))
        name = source.stem if number == 0 else f"{source.stem}_again"
        files = arguments.out / f"{name}.jsonl", arguments.out / f"{name}.json"
        recorded = advise(arguments.shiplap, arguments.profile, before, *files)
        times["recorded"].append(step_ms(recorded["program"]))
        first = first or shown(recorded["advice"], source.stem)
        if not fine:
            times["after"].append(step_ms(run(after)))
        if number == 0 and not fine:
            followed = shown(
                predict(arguments.shiplap, arguments.profile, files[0], FOLLOWED[source.stem]), source.stem
            )
    medians = {version: statistics.median(values) for version, values in times.items() if values}
    return {
        "program": source.stem,
        "fine": fine,
        "step_ms": medians,
        "samples": times,
        "advice": first,
        "followed": followed,
    }


def last_time(advised: dict) -> float | None:
    """The predicted time of the step with all advice over that of the recorded step; None without advice."""
    return advised["advice"][-1]["with_before"]["value"] / advised["step"]["value"] if advised["advice"] else None


def row(one: dict) -> str:
    advice, step = one["advice"], one["step_ms"]
    names = " + ".join(a["rule"] for a in advice["advice"]) or advice["refused"] or "nothing to gain"
    cost = (step["recorded"] / step["before"] - 1) * 100
    line = f"{one['program']:<16} {step['before']:>9.3f} {cost:>+6.1f} % {advice['fidelity']['value'] * 100:>+6.1f} % "
    best = last_time(advice)
    line += f"{best * step['before']:>9.3f} " if best else "        - "
    followed = last_time(one["followed"]) if one["followed"] else None
    if followed and "after" in step:
        predicted = followed * step["before"]
        of_after = (predicted / step["after"] - 1) * 100
        of_before = (predicted - step["after"]) / step["before"] * 100
        line += f"{predicted:>9.3f} {step['after']:>9.3f} {of_after:>+6.1f} % {of_before:>+6.1f} %  "
    else:
        line += " " * 39
    return line + names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--shiplap", default=str(HERE.parents[1] / "build/shiplap"))
    parser.add_argument("--programs", type=Path, default=HERE.parents[1] / "build/bench/advise")
    parser.add_argument("--profile", default="", help="a profile to predict from (default: that of the GPU's name)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="only programs whose name contains this text")
    arguments = parser.parse_args()
    arguments.profile = ["--profile", arguments.profile] if arguments.profile else []
    arguments.out.mkdir(parents=True, exist_ok=True)
    sources = sorted((HERE / "slow").glob("*.[pc][yu]")) + sorted((HERE / "fine").glob("*.[pc][yu]"))
    results = []
    print("                  before   cost of  simulated     best  followed     after   error of  error of  advice")
    print("program             ms    recording recording predicted predicted       ms      after    before")
    for source in sources:
        if arguments.only not in source.stem:
            continue
        try:
            results.append(measure(source, arguments))
            print(row(results[-1]), flush=True)
        except Exception as error:  # the other programs still run
            print(f"{source.stem:<16} failed: {error}", flush=True)
    (arguments.out / "compare.json").write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
