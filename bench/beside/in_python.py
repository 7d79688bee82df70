"""The contenders that are Python: PyTorch and CuPy, as their users write them."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy

from contender import Absent, Contender, fastest, timed_runs, why

ADDEND = 1.5
STREAMS = 4
BLOCK = 1 << 22  # items that a thread fills or compares at once
THREADS = ThreadPoolExecutor(os.cpu_count())


def blocks(items):
    return [slice(begin, min(items, begin + BLOCK)) for begin in range(0, items, BLOCK)]


def parts(items, count):
    return [slice(items * i // count, items * (i + 1) // count) for i in range(count)]


class Arrays:
    """x with random numbers and y, in NumPy arrays over pinned or pageable memory."""

    def __init__(self, work, torch, cupyx):
        self.keep = []
        self.x, self.y = (self._allocate(work, torch, cupyx) for _ in range(2))
        seeds = numpy.random.SeedSequence(31).spawn(len(blocks(work.items)))

        def fill(block, seed):
            numpy.random.default_rng(seed).random(out=self.x[block], dtype=numpy.float32)

        list(THREADS.map(fill, blocks(work.items), seeds))
        self.scrub()

    def _allocate(self, work, torch, cupyx):
        if work.memory == "pageable":
            return numpy.empty(work.items, numpy.float32)
        if torch:
            tensor = torch.empty(work.items, dtype=torch.float32, pin_memory=True)
            self.keep.append(tensor)  # the NumPy array is a view of it
            return tensor.numpy()
        return cupyx.empty_pinned(work.items, numpy.float32)

    def scrub(self):
        def overwrite(block):
            self.y[block] = numpy.nan

        list(THREADS.map(overwrite, blocks(len(self.y))))

    def is_right(self, result):
        """Whether every element is exactly x + 1.5 in float."""
        y = self.y if result is None else numpy.asarray(result)

        def right(block):
            return numpy.array_equal(y[block], self.x[block] + numpy.float32(ADDEND))

        return all(THREADS.map(right, blocks(len(self.x))))


def torch_ways(torch, work, arrays):
    """The ways of PyTorch as (way, [(how, make)]).

    `make()` returns a function that does the work once, and that returns the result unless the result is in y.
    """
    x, y = torch.from_numpy(arrays.x), torch.from_numpy(arrays.y)
    slices = parts(work.items, work.slices)

    def one_stream():
        for s in slices:
            y[s].copy_(x[s].to("cuda", non_blocking=True) + ADDEND, non_blocking=True)
        torch.cuda.synchronize()

    def new_result():
        return (x.cuda() + ADDEND).cpu()

    def kept_result():
        y.copy_(x.cuda() + ADDEND)

    def streams(chunks):
        cut = parts(work.items, chunks)
        places = [
            (torch.cuda.Stream(), *(torch.empty(cut[0].stop, dtype=torch.float32, device="cuda") for _ in range(2)))
            for _ in range(STREAMS)
        ]

        def call():
            for i, s in enumerate(cut):
                stream, dx, dy = places[i % STREAMS]
                with torch.cuda.stream(stream):
                    dx.copy_(x[s], non_blocking=True)
                    torch.add(dx, ADDEND, out=dy)
                    y[s].copy_(dy, non_blocking=True)
            torch.cuda.synchronize()

        return call

    note = f"{work.slices} slices" if work.slices > 1 else ""
    if work.memory == "pageable":
        return [
            (".cuda(), .cpu()", [("a new result each time", lambda: new_result)]),
            (".cuda(), copy_", [("the result in a kept tensor", lambda: kept_result)]),
        ]
    return [
        ("non_blocking=True, one stream", [(note, lambda: one_stream)]),
        ("non_blocking=True, four streams", [(f"{n} chunks", partial(streams, n)) for n in work.chunks]),
    ]


def cupy_ways(cupy, work, arrays):
    """The ways of CuPy as (way, [(how, make)]); torch_ways says what these are."""
    x, y = arrays.x, arrays.y
    slices = parts(work.items, work.slices)

    def new_result():
        return (cupy.asarray(x) + cupy.float32(ADDEND)).get()

    def kept_result():
        for s in slices:
            (cupy.asarray(x[s]) + cupy.float32(ADDEND)).get(out=y[s])

    def streams(chunks, count):
        cut = parts(work.items, chunks)
        places = [
            (cupy.cuda.Stream(non_blocking=True), *(cupy.empty(cut[0].stop, cupy.float32) for _ in range(2)))
            for _ in range(count)
        ]

        def call():
            for i, s in enumerate(cut):
                stream, dx, dy = places[i % count]
                with stream:
                    dx.set(x[s], stream=stream)
                    cupy.add(dx, cupy.float32(ADDEND), out=dy)
                    dy.get(stream=stream, out=y[s], blocking=False)
            for stream, _, _ in places:
                stream.synchronize()

        return call

    note = f", {work.slices} slices" if work.slices > 1 else ""
    kept = ("asarray, get(out=)", [("the result in a kept array" + note, lambda: kept_result)])
    if work.memory == "pageable":
        return [("asarray, get", [("a new result each time", lambda: new_result)]), kept]
    return [
        kept,
        ("set, get, one stream", [(note[2:], lambda: streams(work.slices, 1))]),
        ("set, get, four streams", [(f"{n} chunks", partial(streams, n, STREAMS)) for n in work.chunks]),
    ]


def shiplap_ways(node, modules, work, arrays):
    """The ways of shiplap from Python, with kernels of CuPy and PyTorch; torch_ways says what these are."""
    import shiplap

    options = {"device_memory": work.device_memory, "may_pin": False}
    if work.memory == "pageable":
        # Threads of the library call the kernel, and the prediction does not know what that costs.
        options["race"] = 1.0
    ways = []
    if modules["CuPy"]:
        cupy = modules["CuPy"]
        add = cupy.ElementwiseKernel("float32 x", "float32 y", f"y = x + {ADDEND}f", "add")
        job = shiplap.Job(work.items, "add").in_("x", arrays.x).out("y", arrays.y)
        job = job.kernel(lambda chunk, x, y: add(x, y), arrays="cupy")
        plan = node.plan(job, **options)

        def prepared():
            ready = plan.prepare()

            def run():
                ready.run()

            return run

        ways.append(("kernel of CuPy", [(plan.choice, prepared)]))
    if modules["PyTorch"]:
        import shiplap.torch

        x, y = (modules["PyTorch"].from_numpy(array) for array in (arrays.x, arrays.y))
        streamed = shiplap.torch.streamed(lambda x: x + ADDEND, x, out=y, node=node, **options)

        def run():
            streamed.run()

        ways.append(("shiplap.torch.streamed", [(streamed.plan.choice, lambda: run)]))
    return ways


class Python:
    """PyTorch, CuPy, and shiplap's Python package, each where it is installed and finds a GPU."""

    def __init__(self, device, profile):
        self.absent = []
        self.versions = {"NumPy": numpy.__version__}
        self.torch = self._find("PyTorch", "torch", lambda torch: torch.zeros(1, device="cuda"))
        self.cupy = self._find("CuPy", "cupy", lambda cupy: cupy.zeros(1))
        self.cupyx = __import__("cupyx") if self.cupy else None
        self.node = None

        def open_node(shiplap):
            self.node = (
                shiplap.Node.load_or_measure(device) if profile == "measure" else shiplap.Node.open(device, profile)
            )

        self._find("shiplap in Python", "shiplap", open_node)

    def _find(self, tool, module, use):
        try:
            found = __import__(module)
            use(found)
            self.versions[tool] = getattr(found, "__version__", "")
            return found
        except Exception as error:  # a broken installation makes the tool absent, as a missing one does
            self.absent.append(Absent(tool, "all", why(error)))
            return None

    def contenders(self, work):
        """The contenders of a work, made ready, and those that are absent."""
        self._limit(work.device_memory)
        if not self.torch and not self.cupy:
            return [], list(self.absent)
        arrays = Arrays(work, self.torch, self.cupyx)
        contenders, absent = [], list(self.absent)
        modules = {"PyTorch": self.torch, "CuPy": self.cupy}

        def of_shiplap(node, work, arrays):
            return shiplap_ways(node, modules, work, arrays)

        for tool, module, ways in (
            ("PyTorch", self.torch, torch_ways),
            ("CuPy", self.cupy, cupy_ways),
            ("shiplap in Python", self.node, of_shiplap),
        ):
            try:
                for way, makers in ways(module, work, arrays) if module else []:
                    contenders.append(contender(tool, way, makers, arrays))
            except Exception as error:
                absent.append(Absent(tool, "all", why(error)))
        return contenders, absent

    def _limit(self, device_memory):
        """Limits the device memory of both to what the work allows; 0: no limit."""
        if self.torch:
            self.torch.cuda.empty_cache()
            total = self.torch.cuda.mem_get_info()[1]
            self.torch.cuda.set_per_process_memory_fraction(device_memory / total if device_memory else 1.0)
        if self.cupy:
            self.cupy.get_default_memory_pool().free_all_blocks()
            self.cupy.get_default_memory_pool().set_limit(size=device_memory)


def contender(tool, way, makers, arrays):
    """The fastest of the makers' calls, as a contender."""
    how, call = fastest(makers)

    def check():
        arrays.scrub()
        return bool(arrays.is_right(call()))

    return Contender(tool, way, how, lambda runs: timed_runs(call, runs), check)
