"""Kernels in CUDA C++, compiled when they are first launched."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from shiplap._arguments import text as named
from shiplap._arguments import whole
from shiplap._arrays import Chunk, View
from shiplap._core import UsageError

_C_TYPES = {
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
    "bool": "bool",
}

_VIEW = """
namespace shiplap {
/// The elements first to end of an array, by their indices in the whole array.
template <class T>
struct View {
  T* data;
  unsigned long long first, end;
  __device__ T& operator[](unsigned long long index) const { return data[index - first]; }
};
}  // namespace shiplap
"""


def _c_type(dtype: np.dtype) -> str:
    if dtype.name not in _C_TYPES:
        raise UsageError(f"CUDA C++ from text has no type for {dtype}: give one of {', '.join(_C_TYPES)}")
    return _C_TYPES[dtype.name]


class ItemFunction:
    """A device function in CUDA C++ that computes one item, as a kernel for `Job.kernel`.

    ``function(item, views..., scalars...)`` gets the index of the item, a ``shiplap::View<T>`` of each array (``T`` is
    const where it is only read) whose ``[]`` takes indices of elements of the whole array, and the scalars. The views
    have the order of the arrays, or their names. A kernel around it takes any grid. The text is compiled by NVRTC,
    through the package ``cuda.core``, when a GPU first needs it; virtual devices do not look at it.

    Parameters
    ----------
    text
        CUDA C++ that defines the function.
    function
        Name of the function.
    scalars
        Further arguments: NumPy scalars, or Python numbers (float64 and int64).
    threads
        Threads in a block.

    Examples
    --------
    >>> saxpy = shiplap.ItemFunction(
    ...     '''
    ...     __device__ void saxpy(size_t i, shiplap::View<const float> x, shiplap::View<float> y, float a) {
    ...       y[i] += a * x[i];
    ...     }
    ...     ''',
    ...     "saxpy",
    ...     np.float32(2),
    ... )
    """

    def __init__(self, text: str, function: str, *scalars: Any, threads: int = 256) -> None:
        found = re.search(rf"\b{re.escape(named('function', function))}\s*\(", named("text", text))
        if not found:
            raise UsageError(f"the text does not define the function {function}")
        self.text = text
        self.function = function
        # The names of the views, by which arrays in another order find their parameters.
        parameters = text[found.end() :].split(")")[0]
        declared = re.findall(r"\bView\s*<([^<>]*)>\s*(?:const\s*)?&?\s*(\w+)\s*(?:,|$)", parameters)
        self.views: list[Any] = [name for _, name in declared]
        self._elements: list[str] = [" ".join(element.split()) for element, _ in declared]
        self.scalars: tuple[np.ndarray, ...] = tuple(np.asarray(scalar)[()] for scalar in scalars)
        self.threads: int = whole("threads", threads, 1, 1024)
        self._compiled: dict[Any, Any] = {}

    def source(self, views: Sequence[View]) -> str:
        """Return the program that is compiled for these views.

        Raises UsageError for a parameter that is only read and gets an array that is written, or the other way round.
        """
        for name, element, view in zip(self.views, self._elements, views, strict=False):
            only_reads = element.startswith("const ")
            # The element may also be a parameter of a template.
            is_plain = len(self.views) == len(views) and element.removeprefix("const ") in _C_TYPES.values()
            if is_plain and only_reads == view.writeable:
                is_what = "written, so it is View<T>" if view.writeable else "only read, so it is View<const T>"
                raise UsageError(
                    f"{self.function} gets an array as {name} that is {is_what}, and the text says otherwise. "
                    "Parameters with the names of the arrays get those, in any order; others get them in their order"
                )
        parameters = ["unsigned long long first", "unsigned long long count"]
        arguments = ["item"]
        for i, view in enumerate(views):
            element = _c_type(view.dtype) if view.writeable else f"const {_c_type(view.dtype)}"
            parameters.append(f"{element}* p{i}, unsigned long long first{i}, unsigned long long end{i}")
            arguments.append(f"shiplap::View<{element}>{{p{i}, first{i}, end{i}}}")
        for i, scalar in enumerate(self.scalars):
            parameters.append(f"{_c_type(scalar.dtype)} s{i}")
            arguments.append(f"s{i}")
        return (
            f"{_VIEW}\n#line 1\n{self.text}\n"
            f'extern "C" __global__ void shiplap_items({", ".join(parameters)}) {{\n'
            "  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;\n"
            "  unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;\n"
            "  for (; i < count; i += threads) {\n"
            "    const unsigned long long item = first + i;\n"
            f"    {self.function}({', '.join(arguments)});\n"
            "  }\n}\n"
        )

    def _kernel(self, core: Any, views: Sequence[View]) -> Any:
        device = core.Device()
        key = (device.device_id, tuple((view.dtype, view.writeable) for view in views))
        if key not in self._compiled:
            device.set_current()
            options = core.ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
            program = core.Program(self.source(views), "c++", options)
            self._compiled[key] = program.compile("cubin").get_kernel("shiplap_items")
        return self._compiled[key]

    def __call__(self, chunk: Chunk, *views: View) -> None:
        """Launch the kernel for a chunk."""
        try:
            import cuda.core as core  # type: ignore[import-not-found,unused-ignore]
        except ImportError as reason:
            raise UsageError(
                f"CUDA C++ from text needs the package cuda.core, which is not installed: {reason}"
            ) from reason
        arguments: list[Any] = [np.uint64(chunk.first), np.uint64(chunk.count)]
        for view in views:
            row = math.prod(view.shape[1:])
            arguments += [np.uint64(view.ptr), np.uint64(view.first * row), np.uint64(view.end * row)]
        blocks = chunk.blocks or -(-chunk.count // self.threads)
        config = core.LaunchConfig(grid=blocks, block=self.threads)
        core.launch(chunk.stream, config, self._kernel(core, views), *arguments, *self.scalars)
