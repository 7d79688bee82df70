"""The figures of `beside` as text and JSON."""

from medians import median_with_interval


def as_time(milliseconds):
    """Four figures with a unit that fits."""
    if milliseconds < 0.9995:
        return f"{milliseconds * 1e3:.4g} µs"
    return f"{milliseconds:.4g} ms"


def markdown(head, rows):
    """The first column to the left, the others to the right."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def sorted_by_median(contenders):
    return sorted(contenders, key=lambda c: c.median())


def all_contenders(field):
    """Every contender of a work, the fastest first, and those that are absent with their reasons."""
    rows = []
    for c in sorted_by_median(field.contenders):
        median, low, high = median_with_interval(c.samples)
        name = f"{c.tool}: {c.way}" + (f" ({c.how})" if c.how else "")
        verdict = "yes" if c.right else "WRONG"
        rows.append([name, as_time(median), f"{as_time(low)} to {as_time(high)}", str(len(c.samples)), verdict])
    text = [f"\n{field.work.name}\n", markdown(["contender", "median", "95 % interval", "n", "right"], rows)]
    text += [f"absent: {a.tool}, {a.way}: {a.reason}" for a in field.absent]
    return "\n".join(text)


def readme_table(fields):
    """A row for each work: shiplap, the fastest of all others, and plain copies."""
    rows = []
    for field in fields:
        right = sorted_by_median(c for c in field.contenders if c.right)
        ours = next((c for c in right if c.tool == "shiplap"), None)
        others = [c for c in right if not c.tool.startswith("shiplap")]
        plain = next((c for c in others if c.tool == "plain"), None)
        row = [field.work.name, as_time(ours.median()) if ours else "absent"]
        for other, named in ((others[0] if others else None, True), (plain, False)):
            if not other:
                row += ["absent", "–"]
                continue
            row.append(as_time(other.median()) + (f" ({other.tool}: {other.way})" if named else ""))
            row.append(f"{other.median() / ours.median():.2f}" if ours else "–")
        rows.append(row)
    head = ["y = x + 1.5", "shiplap", "best of the others", "speed-up", "plain `cudaMemcpy`", "speed-up"]
    return "\n" + markdown(head, rows)


def to_json(field):
    """A work with its contenders and those that are absent."""

    def contender(c):
        median, low, high = (round(v, 5) for v in median_with_interval(c.samples))
        return {
            "tool": c.tool,
            "way": c.way,
            "how": c.how,
            "right": c.right,
            "median_ms": median,
            "low_ms": low,
            "high_ms": high,
            "n": len(c.samples),
            "samples_ms": [round(v, 5) for v in c.samples],
        }

    work = field.work
    return {
        "name": work.name,
        "memory": work.memory,
        "bytes_each_way": work.bytes_each_way,
        "device_memory": work.device_memory,
        "runs_of_a_turn": work.runs,
        "contenders": [contender(c) for c in field.contenders],
        "absent": [vars(a) for a in field.absent],
    }
