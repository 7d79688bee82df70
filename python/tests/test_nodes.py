import subprocess
import sys

import numpy as np
import pytest

import shiplap
from jobs import doubling, pinned


def test_devices_and_profiles_are_listed():
    assert "virtual:h200" in shiplap.devices()
    assert {"h100", "h200"} <= set(shiplap.profiles())


def test_a_profile_can_be_saved_and_opened_again(node, tmp_path):
    path = tmp_path / "node.json"
    node.save_profile(path)
    again = shiplap.Node.from_profile(str(path))
    assert again.profile_hash == node.profile_hash
    assert again.profile()["name"] == "h100"
    assert "NVIDIA H100" in str(again)
    opened = shiplap.Node.open("virtual:h200", str(path))
    assert opened.device == "virtual:h200"
    assert opened.profile_hash == node.profile_hash


def test_pinned_arrays_are_recognised_and_outlive_the_node():
    node = shiplap.Node.load_or_measure("virtual:h100", say=lambda line: None)
    pinned = node.pinned_empty((3, 5), np.int16)
    pinned[:] = np.arange(15).reshape(3, 5)
    assert node.memory_of(pinned) == "pinned"
    assert node.memory_of(np.zeros(8)) == "pageable"
    del node
    assert pinned.sum() == 105


def test_another_link_is_as_slow_as_it_says(node):
    def seconds_for_a_byte(of):
        return of.profile()["links"][0]["h2d"]["per_byte"]["value"]

    slow = node.what_if("link=0.5")
    assert seconds_for_a_byte(slow) == pytest.approx(2 * seconds_for_a_byte(node))
    assert slow.profile()["origin"] == "assumed"
    with pytest.raises(shiplap.UsageError, match="link"):
        node.what_if("gpu=2")


def test_a_machine_without_a_published_link_plans_with_an_assumed_one():
    k20 = shiplap.Node.from_profile("tesla-k20m-2014").with_link("pcie2")
    assert k20.profile()["origin"] == "assumed"
    # 12.0216 GB/s of Table I on PCIe 3 at 8 instead of 15.7538 GB/s
    assert 1 / k20.profile()["links"][0]["h2d"]["per_byte"]["value"] == pytest.approx(12.0216 * 8 / 15.7538, rel=1e-4)
    with pytest.raises(shiplap.UsageError, match="has a link"):
        k20.with_link("pcie3")


def test_a_slower_link_is_no_faster_for_the_same_arrays(node):
    n = 1 << 22
    arrays = {
        "pageable": (np.zeros(n, np.float32), np.zeros(n, np.float32)),
        "pinned": (pinned(node, np.zeros(n, np.float32)), pinned(node, np.zeros(n, np.float32))),
    }
    times = {}
    for kind, (x, y) in arrays.items():
        job = doubling(x, y).kernel_time(1e-4)
        known = shiplap.Node.from_profile("h100")
        slow = node.what_if("link=pcie3")
        assert {known.memory_of(x), slow.memory_of(x), node.memory_of(x)} == {kind}
        times[kind] = [of.plan(job, may_pin=False).predicted for of in (node, known, slow)]
        assert times[kind][0] == pytest.approx(times[kind][1]) and times[kind][2] > times[kind][0]
    assert times["pageable"][2] > times["pinned"][2]


def test_movers_have_rows_a_table_and_a_picture(node):
    movers = node.movers([64, 1024])
    rows = movers.rows()
    assert {row["blocks"] for row in rows} == {64, 1024}
    best = [r for r in rows if r["direction"] == "H2D" and r["block"] == 4096 and r["blocks"] == 1024][0]
    assert best["mover"] == "kernel" and best["grid"] >= 1
    assert best["rate"] == pytest.approx(4096 * 1024 / best["time"] * 1e-9, rel=1e-6)
    assert "blocks to the GPU: " in str(movers)
    assert movers._repr_svg_().startswith("<svg")
    with pytest.raises(shiplap.UsageError, match="pageable.*pinned.*managed"):
        node.movers([64], pool="paged")
    limited = node.movers([1024], max_slowdown=0.03).rows()
    assert all(row["slowdown"] <= 0.03 for row in limited)


def test_rows_become_a_data_frame_where_pandas_is_there(node):
    pandas = pytest.importorskip("pandas")
    frame = node.movers([64]).to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert (frame["time"] > 0).all()


def test_the_command_comes_with_the_package():
    shown = subprocess.run(
        [sys.executable, "-m", "shiplap", "--version"], capture_output=True, text=True, check=True
    ).stdout
    assert shown.startswith("shiplap ")
    refused = subprocess.run([sys.executable, "-m", "shiplap", "no-such-command"], capture_output=True, text=True)
    assert refused.returncode == 64
