#!/usr/bin/env python3
"""Run the programs of this folder before and after advice was followed, and compare with what was predicted.

  compare.py OUT [--shiplap PATH] [--programs FOLDER] [--rounds N] [--only NAME]

Each round runs a program as it was (`before`), the same under `shiplap advise`, and the version that follows the advice
by hand (`after`), one after the other. Medians of the rounds are compared. OUT gets a recording for each program
(of the first round), the advice as JSON, and `compare.json`; the table is printed. CUDA programs are those that
`cmake --build build --target advise_programs` has built, in the folder build/bench/advise.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


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


def advise(shiplap: str, profile: list[str], command: list[str], recording: Path, advice: Path) -> dict:
    """Run the program under `shiplap advise`; return what the program says and the advice."""
    record = ["--record", str(recording), "--svg", str(advice.with_suffix(".svg"))]
    result = subprocess.run(
        [shiplap, "advise", *profile, *record, "--json", "--", *command], capture_output=True, text=True, timeout=600
    )
    if result.returncode != 0:
        raise RuntimeError(f"advise {' '.join(command)} exits with {result.returncode}:\n{result.stderr[-2000:]}")
    begin = result.stdout.index('{\n  "schema"') if '{\n  "schema"' in result.stdout else result.stdout.rindex('{"schema"')
    found = json.loads(result.stdout[begin:])
    advice.write_text(json.dumps(found, indent=1))
    return {"program": last_json(result.stdout[:begin]), "advice": found}


def measure(source: Path, arguments: argparse.Namespace) -> dict:
    command = command_of(source, arguments.programs)
    fine = source.parent.name == "fine"
    times: dict[str, list[float]] = {"before": [], "recorded": [], "after": []}
    first = None
    for number in range(arguments.rounds):
        times["before"].append(step_ms(run([*command, "before"])))
        name = source.stem if number == 0 else f"{source.stem}_again"
        files = arguments.out / f"{name}.jsonl", arguments.out / f"{name}.json"
        recorded = advise(arguments.shiplap, arguments.profile, [*command, "before"], *files)
        times["recorded"].append(step_ms(recorded["program"]))
        first = first or recorded["advice"]
        if not fine:
            times["after"].append(step_ms(run([*command, "after"])))
    medians = {version: statistics.median(values) for version, values in times.items() if values}
    return {"program": source.stem, "fine": fine, "step_ms": medians, "samples": times, "advice": first}


def row(one: dict) -> str:
    advice, step = one["advice"], one["step_ms"]
    names = " + ".join(a["rule"] for a in advice["advice"]) or advice["refused"] or "nothing to gain"
    predicted = advice["advice"][-1]["with_before"]["value"] if advice["advice"] else None
    after = step.get("after")
    error = f"{(predicted / after - 1) * 100:+6.1f} %" if predicted and after else "       –"
    simulated = f"{advice['fidelity'] * 100:+6.1f} %"
    cost = (step["recorded"] / step["before"] - 1) * 100
    return (
        f"{one['program']:<16} {step['before']:>9.3f} {cost:>+6.1f} % {simulated:>9} "
        f"{predicted if predicted else float('nan'):>9.3f} {after if after else float('nan'):>9.3f} {error}  {names}"
    )


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
    print("program           before ms  record simulated predicted  after ms    error  advice")
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
