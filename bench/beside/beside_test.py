"""Tests of beside.py that need neither a GPU nor PyTorch or CuPy: beside_test.py PROGRAM"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from beside import Field, Work
from contender import Contender, Missing
from medians import median_with_interval, rank_of_low_end
from tables import readme_table

HERE = Path(__file__).resolve().parent
program = None


class Side:
    def __init__(self, *contenders):
        self.ready = list(contenders)

    def contenders(self, work):
        return self.ready, []


def one(tool, way, milliseconds, right=True):
    return Contender(tool, way, "", lambda runs: [milliseconds] * runs, lambda: right)


class NoOrder:
    def shuffle(self, drawn):
        pass


def field_of(*contenders, rounds=12):
    field = Field({("any",): Side(*contenders)}, Work("a work", "pinned", 1024, [4], rounds))
    field.verify()
    field.run(NoOrder())
    return field


class Medians(unittest.TestCase):
    def test_interval_has_the_ranks_of_published_tables(self):
        published = {6: 1, 9: 2, 12: 3, 15: 4, 20: 6, 25: 8, 30: 10, 40: 14, 50: 18, 100: 40}
        self.assertEqual({n: rank_of_low_end(n) for n in published}, published)

    def test_interval_of_five_samples_is_their_range(self):
        self.assertEqual(median_with_interval([5, 1, 4, 2, 3]), (3, 1, 5))


class Rounds(unittest.TestCase):
    def test_contender_that_fails_in_a_round_leaves_with_its_reason(self):
        def fails(runs):
            raise MemoryError("no memory left\nand more")

        field = field_of(one("shiplap", "run", 1), Contender("CuPy", "get", "", fails, lambda: True))
        self.assertEqual([c.tool for c in field.contenders], ["shiplap"])
        absent = [(a.tool, a.way, a.reason) for a in field.absent]
        self.assertEqual(absent, [("CuPy", "get", "MemoryError: no memory left")])

    def test_side_that_cannot_be_made_ready_is_absent_with_its_reason(self):
        class Broken:
            def contenders(self, work):
                raise RuntimeError("the program ended")

        field = Field({("plain", "by hand"): Broken()}, Work("a work", "pinned", 1024, [4], 3))
        self.assertEqual([a.tool for a in field.absent], ["plain", "by hand"])
        self.assertEqual(field.absent[0].reason, "RuntimeError: the program ended")

    def test_all_contenders_have_as_many_samples_as_there_were_rounds(self):
        field = field_of(one("shiplap", "run", 1), one("plain", "cudaMemcpy", 2), rounds=12)
        self.assertEqual([len(c.samples) for c in field.contenders], [12, 12])


class Table(unittest.TestCase):
    def test_wrong_result_is_never_the_best(self):
        field = field_of(one("shiplap", "run", 2), one("CuPy", "get", 1, right=False), one("plain", "cudaMemcpy", 6))
        row = readme_table([field]).splitlines()[-1]
        self.assertEqual(row, "| a work | 2 ms | 6 ms (plain: cudaMemcpy) | 3.00 | 6 ms | 3.00 |")

    def test_absence_stands_in_the_table(self):
        row = readme_table([field_of(one("shiplap", "run", 0.05))]).splitlines()[-1]
        self.assertEqual(row, "| a work | 50 µs | absent | – | absent | – |")


class WholeRun(unittest.TestCase):
    def run_on(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "beside.json"
            command = [sys.executable, HERE / "beside.py", "virtual:h200", "h200", out, "--scale", "0.0009765625"]
            done = subprocess.run([*command, "--rounds", "3", *arguments], capture_output=True, text=True)
            self.assertTrue(out.exists(), done.stderr)
            return done, json.loads(out.read_text())

    def test_on_a_simulated_gpu_shiplap_is_right_and_every_other_tool_is_named(self):
        done, result = self.run_on("--program", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(result["works"]), 6)
        for work in result["works"]:
            ours = [c for c in work["contenders"] if c["tool"] == "shiplap"]
            self.assertEqual([(c["right"], c["n"]) for c in ours], [(True, 3)])
            named = {c["tool"] for c in work["contenders"]} | {a["tool"] for a in work["absent"]}
            self.assertEqual(named, {"shiplap", "plain", "by hand", "PyTorch", "CuPy", "shiplap in Python"})
            self.assertTrue(all("simulated" in a["reason"] or "no CUDA" in a["reason"] for a in work["absent"]))

    def test_program_that_is_missing_is_reported(self):
        done, result = self.run_on("--program", "/nowhere/beside")
        self.assertEqual(done.returncode, 1)
        reasons = {a["tool"]: a["reason"] for a in result["works"][0]["absent"]}
        self.assertIn("/nowhere/beside", reasons["shiplap"])


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main()
