# A planner of a data centre: what would one night job take on each GPU of the catalogue, and which links limit it?
import sys

import numpy as np

import shiplap

GIB = 1 << 30
ROWS = 1 << 20


def seconds(quantity):
    return quantity["value"] * {"s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6}[quantity["unit"]]


def night_job(gib, memory_passes=4):
    # Nobody has allocated these arrays. The kernel reads and writes device memory some times over.
    spec = shiplap.ArraySpec((ROWS, gib * GIB // ROWS // 4), np.float32)
    job = shiplap.Job(ROWS, f"night-{gib}GiB").in_("in", spec).out("out", spec)
    return job.with_device_traffic(memory_passes * 2 * gib * GIB)


def main():
    wanted = (sys.argv[1] if len(sys.argv) > 1 else "virtual:h200").removeprefix("virtual:")
    names = shiplap.profiles()
    assert wanted in names, (wanted, names)
    print(f"{'profile':26} {'GiB':>4} {'predicted':>11} {'bound':>11}  bound by")
    planned = {}
    for name in names:
        node = shiplap.Node.from_profile(name)
        for gib in (1, 4):
            try:
                plan = node.plan(night_job(gib))
            except shiplap.Unsupported:  # nobody has published the link of this machine: assume one
                plan = node.with_link("pcie3").plan(night_job(gib))
                assert plan.to_dict()["assumed_link"]
            found = plan.to_dict()
            predicted, bound = seconds(found["chosen"]["predicted"]), seconds(found["bound"])
            assert abs(predicted - plan.predicted) < 1e-3 * predicted
            low, high = plan.interval
            assert low <= predicted <= high and bound <= high, (name, found["bound"])
            assert found["profile"].split(",")[0] == name and len(plan.rows()) == len(found["candidates"])
            planned[name, gib] = predicted
            print(f"{name:26} {gib:4} {predicted:9.4f} s {bound:9.4f} s  {found['bound_by']}")
    for (name, gib), predicted in planned.items():
        if gib == 4:
            assert 3.5 < predicted / planned[name, 1] < 4.5, (name, predicted)
    # A link of half the bandwidth: no faster, and at most twice as slow.
    half = shiplap.Node.from_profile(wanted).what_if("link=0.5").plan(night_job(4))
    factor = half.predicted / planned[wanted, 4]
    assert 1 <= factor < 2.1, factor
    print(f"{len(planned)} plans; {wanted} with half its link takes {factor:.2f} times as long")


main()
