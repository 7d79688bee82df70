"""What the links of other GPUs give on larger nodes, on paper: measured figures, published limits, simulation.

usage: nodes.py SHIPLAP PROFILE.json

The profile is that of a node with two H200 (results/h200-x2/profile.json). Each node here has copies of its GPU, its
link and its peer copies, and limits that GPUs share. A job of copies alone is planned with 0, 1, 3 and 7 others.
"""

import copy
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

PROGRAM, MEASURED = sys.argv[1:3]
SIZE = 1 << 30


@dataclass
class Limit:
    """What these GPUs reach together, in GB/s: to them, from them, and duplex."""

    gpus: range
    h2d: float
    d2h: float
    both: float


@dataclass
class Node:
    """A number of GPUs whose links are `link` times as fast as the measured one, and what they share."""

    name: str
    gpus: int
    limits: list[Limit]
    link: float = 1.0
    peers: bool = True


LINK = 55.5  # GB/s of the measured link
NODES = [
    Node("no limit but the links", 8, []),
    Node("4 H200, one host (measured sums: results/h200-x4)", 4, [Limit(range(4), 165.0, 141.8, 280.0)]),
    Node("8 GPUs, two sockets (sum of MMA, arXiv 2512.16056)", 8, [Limit(range(8), 245.0, 245.0, 400.0)]),
    Node("2 GPUs behind one PCIe switch", 2, [Limit(range(2), LINK, LINK, 2 * LINK)]),
    Node(
        "4 GPUs in pairs behind two switches",
        4,
        [Limit(range(0, 2), LINK, LINK, 2 * LINK), Limit(range(2, 4), LINK, LINK, 2 * LINK)],
    ),
    Node(
        "2 GPUs of a GB200 (210 GB/s each, 500 GB/s of LPDDR)",
        2,
        [Limit(range(2), 420.0, 420.0, 500.0)],
        link=210 / LINK,
    ),
    Node("2 GH200 without peer access", 2, [], link=380 / LINK, peers=False),
]


def faster(part: object, factor: float) -> None:
    """Divide every time per byte in the description of a link."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "per_byte" and isinstance(value, dict):
                for end in ("value", "low", "high"):
                    value[end] /= factor
            else:
                faster(value, factor)
    elif isinstance(part, list):
        for value in part:
            faster(value, factor)


def profile_of(node: Node) -> dict:
    """Return the profile of a node, assumed from the measured one."""
    profile = json.loads(Path(MEASURED).read_text())
    gpu, link, peer = profile["gpus"][0], profile["links"][0], profile["peers"][0]
    faster(link, node.link)
    ends = range(node.gpus)
    counts = {"gpus": node.gpus, "links": node.gpus, "peers": node.gpus * (node.gpus - 1) if node.peers else 0}
    missing = [one for one in profile["missing"] if one["parameter"].split("[")[0] not in counts]
    for one in profile["missing"]:
        part, _, rest = one["parameter"].partition("[0]")
        if rest:
            missing += [one | {"parameter": f"{part}[{i}]{rest}"} for i in range(counts[part])]
    between = lambda gb_s: {"value": gb_s, "low": gb_s, "high": gb_s, "unit": "GB/s"}  # noqa: E731
    return profile | {
        "name": "on-paper",
        "origin": "assumed",
        "missing": missing,
        "residuals": [],
        "measurements": [],
        "gpus": [copy.deepcopy(gpu) for _ in ends],
        "links": [copy.deepcopy(link) | {"gpu": i} for i in ends],
        "peers": [copy.deepcopy(peer) | {"from": a, "to": b} for a in ends for b in ends if a != b and node.peers],
        "shared": [
            {
                "gpus": list(limit.gpus),
                "h2d": between(limit.h2d),
                "d2h": between(limit.d2h),
                "both": between(limit.both),
            }
            for limit in node.limits
        ],
    }


def seconds(file: Path, relays: int, sizes: dict[str, int]) -> float:
    """Return the planned time of copies of these sizes."""
    command = [
        PROGRAM,
        "plan",
        "--profile",
        str(file),
        "--kernel",
        "1us",
        "--strategy",
        "streams",
        "--relay",
        str(relays),
        "--json",
    ]
    for direction, size in sizes.items():
        command += [f"--{direction}", str(size)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    predicted = json.loads(done.stdout)["chosen"]["predicted"]
    return predicted["value"] * {"s": 1, "ms": 1e-3, "us": 1e-6}[predicted["unit"]]


def main() -> None:
    """Print the table."""
    print(
        f"{'1 GiB each, streams, predicted':56}{'direction':>10}" + "".join(f"{f'{n} relay':>16}" for n in (0, 1, 3, 7))
    )
    with tempfile.TemporaryDirectory() as folder:
        for node in NODES:
            file = Path(folder) / "node.json"
            file.write_text(json.dumps(profile_of(node)))
            for name, sizes in (("in", {"in": SIZE}), ("out", {"out": SIZE}), ("both", {"in": SIZE, "out": SIZE})):
                alone = seconds(file, 0, sizes)
                cells = []
                for relays in (0, 1, 3, 7):
                    if relays >= node.gpus:
                        cells.append("")
                        continue
                    time = seconds(file, relays, sizes)
                    cells.append(f"{sum(sizes.values()) / time / 1e9:.0f} GB/s {alone / time:5.2f}x")
                print(
                    f"{node.name if name == 'in' else '':56}{name:>10}" + "".join(f"{cell:>16}" for cell in cells),
                    flush=True,
                )


main()
