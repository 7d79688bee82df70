# A data engineer: normalises batches of spectra with the neighbours of each spectrum and one table for all of them.
import sys
import tempfile
from pathlib import Path

import numpy as np

import shiplap

SPECTRA, BINS = 4096, 128


def normalised(spectra, gain):
    """The whole batch at once, computed without shiplap."""
    padded = np.pad(spectra, ((1, 1), (0, 0)), mode="edge")
    return (spectra - (padded[:-2] + padded[2:]) / 2) * gain


def normalise(chunk, spectra, gain, result):
    before = chunk.first - chunk.views[0].first  # spectra of the halo before the chunk: 0 or 1
    after = chunk.end < SPECTRA
    padded = np.pad(spectra, ((1 - before, 0 if after else 1), (0, 0)), mode="edge")
    result[:] = (padded[1:-1] - (padded[:-2] + padded[2:]) / 2) * gain


def main():
    node = shiplap.Node.load_or_measure(sys.argv[1] if len(sys.argv) > 1 else "virtual:h200")
    random = np.random.default_rng(7)
    spectra = node.pinned_empty((SPECTRA, BINS), np.float32)
    result = node.pinned_empty((SPECTRA, BINS), np.float32)
    gain = random.random(BINS, dtype=np.float32)
    job = shiplap.Job(SPECTRA, "normalise").in_("spectra", spectra, shiplap.halo(1, 1)).broadcast("gain", gain)
    job = job.out("result", result).host_kernel(normalise)

    plan = node.plan(job, runs=4)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "normalise.json"
        plan.save(file)
        again = node.plan(job, saved=file)
    assert str(again.choice) == str(plan.choice), (again.choice, plan.choice)
    assert abs(again.predicted - plan.predicted) < 1e-9

    batches = [random.random((SPECTRA, BINS), dtype=np.float32) for _ in range(4)]
    times = []
    with again.prepare() as prepared:
        for number, batch in enumerate(batches):
            spectra[:] = batch
            if number % 2:
                prepared.run()
            else:
                going = prepared.start()
                times.append(going.result())
                assert going.done()
            np.testing.assert_allclose(result, normalised(batch, gain), rtol=1e-6, atol=1e-6)
    try:
        prepared.run()
    except shiplap.Error as error:
        closed = str(error)
    else:
        raise AssertionError("a run after the end of the block")
    print(plan.summary())
    print(f"{len(batches)} batches are right, {times[0]}; afterwards: {closed}")


main()
