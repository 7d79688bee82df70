"""Say which of the lines that report errors the tests run.

An error line of the library is a `throw`, a `catch`, or a call of a function that never returns. The build must have
been compiled with `--coverage` by GCC and its tests have run. Fails when fewer than 95 % of the lines have run, or when
a line that has not run has no reason in unreached.txt, or a reason has no line any more, or several.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

WANTED = 0.95
REASONS = pathlib.Path(__file__).with_name("unreached.txt")
NORETURN = re.compile(r"\[\[noreturn\]\]\s+(?:static\s+)?void\s+(\w+)\(")
THROW_OR_CATCH = re.compile(r"\bthrow\b|\bcatch\s*\(")
COMMENT = re.compile(r"//.*$")
TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')


def code_of(line: str) -> str:
    """Return the line without its texts and its comment."""
    return COMMENT.sub("", TEXT.sub('""', line))


def sources(root: pathlib.Path) -> dict[str, list[str]]:
    """Return the lines of each source of the library."""
    files = sorted(p for p in (root / "shiplap").rglob("*") if p.suffix in (".cpp", ".hpp"))
    return {str(p.relative_to(root)): p.read_text().splitlines() for p in files}


def error_lines(files: dict[str, list[str]]) -> dict[str, list[int]]:
    """Numbers of the error lines of each file, counted from 1."""
    names = {name for lines in files.values() for line in lines for name in NORETURN.findall(line)}
    call = re.compile(rf"(?<![\w:~])(?:\w+(?:\.|->))?(?:{'|'.join(sorted(names))})\(")
    found: dict[str, list[int]] = {}
    for name, lines in files.items():
        for number, line in enumerate(lines, 1):
            code = code_of(line)
            declares = "[[noreturn]]" in line or re.match(r"^(?:\[\[noreturn\]\] )?void ", code)
            if THROW_OR_CATCH.search(code) or (call.search(code) and not declares):
                found.setdefault(name, []).append(number)
    return found


def counts_of(data: pathlib.Path) -> dict[str, dict[int, int]]:
    """Return how often each line ran, as one object says, by source."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["gcov", "--json-format", str(data.resolve())], cwd=folder, check=True, capture_output=True)
        counts: dict[str, dict[int, int]] = {}
        for file in pathlib.Path(folder).glob("*.gz"):
            for one in json.loads(gzip.decompress(file.read_bytes()))["files"]:
                own = counts.setdefault(one["file"], {})
                for line in one["lines"]:
                    own[line["line_number"]] = max(own.get(line["line_number"], 0), line["count"])
        return counts


def executed(build: pathlib.Path, root: pathlib.Path) -> dict[str, dict[int, int]]:
    """How often each line of each source ran, by the largest count of all objects that contain it."""
    all_counts: dict[str, dict[int, int]] = collections.defaultdict(dict)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for counts in pool.map(counts_of, sorted(build.rglob("*.gcda"))):
            for file, lines in counts.items():
                path = (build / file).resolve() if not pathlib.Path(file).is_absolute() else pathlib.Path(file)
                if not path.is_relative_to(root):
                    continue
                own = all_counts[str(path.relative_to(root))]
                for number, count in lines.items():
                    own[number] = max(own.get(number, 0), count)
    return all_counts


def has_run(counts: dict[int, int], number: int) -> bool | None:
    """Whether a statement that begins in this line has run; None when the compiler made no code of it."""
    for line in range(number, number + 4):  # the call in a `throw` over several lines may be counted in a later one
        if line in counts:
            return counts[line] > 0
    return None


class Reasons:
    """Why lines do not run, by file and text of the line, both as patterns of `fnmatch`."""

    def __init__(self) -> None:
        self.known = []
        for line in REASONS.read_text().splitlines():
            if line and not line.startswith("#"):
                file, text, reason = (part.strip() for part in line.split(" | "))
                self.known.append((file, text, reason))
        self.used: collections.Counter[tuple[str, str, str]] = collections.Counter()

    def of(self, file: str, text: str) -> str | None:
        """Return the reason of a line, None where there is none."""
        for one in self.known:
            if fnmatch.fnmatchcase(file, one[0]) and fnmatch.fnmatchcase(text, one[1]):
                self.used[one] += 1
                return one[2]
        return None


def main() -> int:
    """Print the table and what is wrong."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("build", type=pathlib.Path, help="folder of a build with --coverage whose tests have run")
    build = arguments.parse_args().build.resolve()
    root = pathlib.Path(__file__).resolve().parents[2]
    files = sources(root)
    counts = executed(build, root)
    table = collections.Counter()
    ran = collections.Counter()
    missed = []
    for file, numbers in error_lines(files).items():
        room = "/".join(file.split("/")[:-1])
        for number in numbers:
            state = has_run(counts.get(file, {}), number)
            if state is None and file.endswith(".hpp"):
                continue  # a template or constant that no object has
            table[room] += 1
            ran[room] += bool(state)
            if not state:
                missed.append((file, files[file][number - 1].strip(), number))
    print(f"{'room':<32}{'error lines':>12}{'run by tests':>14}")
    for room in sorted(table):
        print(f"{room:<32}{table[room]:>12}{ran[room]:>14}")
    share = sum(ran.values()) / max(1, sum(table.values()))
    print(f"{'all':<32}{sum(table.values()):>12}{sum(ran.values()):>14}   {100 * share:.1f} %")
    reasons = Reasons()
    without = [m for m in missed if reasons.of(*m[:2]) is None]
    stale = [one for one in reasons.known if one not in reasons.used]
    again = [one for one, times in reasons.used.items() if times > 1]
    for file, text, number in without:
        print(f"not run, without a reason: {file}:{number} | {text}")
    for file, text, _ in stale:
        print(f"has a reason, but runs or is gone: {file} | {text}")
    for file, text, _ in again:
        print(f"one reason for several lines that have not run: {file} | {text}")
    return 0 if share >= WANTED and not without and not stale and not again else 1


if __name__ == "__main__":
    sys.exit(main())
