"""Advice for what PyTorch's profiler has seen. The profiler itself is not needed: its trace is made here."""

import json
import os

import pytest

import shiplap
from shiplap._torch_advise import advise

ROOT = os.path.join(os.path.dirname(__file__), "..", "..")


class Profiler:
    """Writes the trace of steps that copy 16 MiB of pageable memory to a T4, compute, and wait."""

    def export_chrome_trace(self, path):
        events = []
        call = 0
        for step in range(12):
            begin = step * 10_000.0
            for cat, function, start, took, work in [
                (
                    "gpu_memcpy",
                    "cudaMemcpyAsync",
                    0,
                    5000,
                    {"bytes": 16 << 20, "name": "Memcpy HtoD (Pageable -> Device)"},
                ),
                ("kernel", "cudaLaunchKernel", 5010, 2000, {"grid": [10, 1, 1], "block": [128, 1, 1], "name": "work"}),
            ]:
                call += 1
                events.append(self._event("cuda_runtime", function, begin + start, took if call % 2 else 5, {}, call))
                name = work.pop("name")
                events.append(
                    self._event(cat, name, begin + start + 8, took - 10, work | {"device": 0, "stream": 7}, call)
                )
            call += 2
            events.append(self._event("cuda_runtime", "cudaDeviceSynchronize", begin + 5020, 2000, {}, call))
        with open(path, "w") as file:
            json.dump(
                {
                    "schemaVersion": 1,
                    "deviceProperties": [{"id": 0, "name": "Tesla T4", "totalGlobalMem": 15843721216}],
                    "traceEvents": events,
                    "baseTimeNanoseconds": 0,
                },
                file,
            )

    @staticmethod
    def _event(cat, name, ts, dur, args, call):
        gpu = "stream" in args
        args = args | {"correlation": call}
        return {
            "ph": "X",
            "cat": cat,
            "name": name,
            "pid": 0 if gpu else 1,
            "tid": 7 if gpu else 1,
            "ts": ts,
            "dur": dur,
            "args": args,
        }


def test_a_profiler_gets_advice_with_the_rates_of_its_own_copies():
    advice = advise(Profiler())
    assert advice.rows()[0]["advice"] == "pin"
    assert 0.0060 < advice.rows()[0]["step"] < 0.0066  # 10 ms, of which 5 ms become 1.1 to 1.5 ms on PCIe 3.0 x16
    text = str(advice)
    assert "Tesla T4" in text
    assert "an assumed link (8.0 GT/s PCIe x16)" in text.replace("\n", " ")
    assert "GB/s to the GPU from pageable memory" in text.replace("\n", " ")
    assert repr(advice).startswith("Advice(")
    assert "<svg" in advice._repr_html_()
    assert advice.to_dict()["schema"] == "shiplap/advice"


def test_a_path_is_read_as_the_program_reads_it():
    path = os.path.join(ROOT, "tests", "advise", "recordings", "torch_inference.jsonl")
    if not os.path.exists(path):
        pytest.skip("the recordings are not part of the package")
    assert advise(path).rows()


def test_what_is_no_profiler_and_no_trace_is_refused(tmp_path):
    with pytest.raises(shiplap.UsageError, match="torch.profiler"):
        advise(3)
    with pytest.raises(shiplap.UsageError, match="`step`"):
        advise(Profiler(), step=3)
    with pytest.raises(shiplap.Error, match="nothing.json"):
        advise(tmp_path / "nothing.json")
