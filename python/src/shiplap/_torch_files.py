"""Weights that are mapped from files: where they are, and how they are read through pinned memory."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]

from shiplap import _core
from shiplap._node import Node

Tensor = Any

# Reads that run at once. While one waits for its last pieces, others use the link.
_READS_AT_ONCE = 4
# Threads of all reads together, as many as the library uses for one read.
_MOST_THREADS = 16
_PAGE = os.sysconf("SC_PAGESIZE")
# Bits of an entry of /proc/self/pagemap: the page is in memory, is swapped, is one of a file.
_PRESENT, _SWAPPED, _OF_FILE = 1 << 63, 1 << 62, 1 << 61


class OpenFile:
    """A file that is open for reading as long as this exists."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def __del__(self) -> None:
        if hasattr(self, "number"):
            os.close(self.number)


@dataclass(frozen=True)
class FilePart:
    """Where in a file the bytes of a tensor are."""

    file: OpenFile
    offset: int
    is_private: bool  # whether pages of the mapping that were written to are no longer those of the file

    def at(self, begin: int) -> tuple[int, int, str]:
        """Return the open file, the position of a byte of the tensor in it, and its path."""
        return self.file.number, self.offset + begin, os.fsencode(self.file.path).decode("utf-8", "replace")

    def is_unchanged(self, tensor: Tensor) -> bool:
        """Whether the mapped pages are still those of the file."""
        return not self.is_private or _pages_are_of_file(tensor.data_ptr(), tensor.nbytes)


@dataclass(frozen=True)
class _Mapping:
    begin: int
    end: int
    offset: int
    is_private: bool
    device: tuple[int, int]
    inode: int
    path: str


def _pages_are_of_file(address: int, size: int) -> bool:
    """Whether all pages are those of a file, as far as the system says."""
    first, last = address // _PAGE, (address + size - 1) // _PAGE
    try:
        with open("/proc/self/pagemap", "rb", buffering=0) as pages:
            pages.seek(first * 8)
            data = pages.read((last - first + 1) * 8)
    except OSError:  # as in some sandboxes
        return False
    entries = np.frombuffer(data, dtype=np.uint64)
    changed = (entries & np.uint64(_SWAPPED) != 0) | (
        (entries & np.uint64(_PRESENT) != 0) & (entries & np.uint64(_OF_FILE) == 0)
    )
    return len(entries) == last - first + 1 and not bool(changed.any())


def _mappings() -> Iterator[_Mapping]:
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            # "7f0c5a000000-7f0c5a021000 rw-p 00000000 08:01 42", then the path of a file
            fields = line.rstrip("\n").split(maxsplit=5)
            if len(fields) < 6 or fields[4] == "0" or not fields[5].startswith("/"):
                continue
            begin, end = (int(text, 16) for text in fields[0].split("-"))
            major, minor = (int(text, 16) for text in fields[3].split(":"))
            yield _Mapping(begin, end, int(fields[2], 16), "p" in fields[1], (major, minor), int(fields[4]), fields[5])


class MappedFiles:
    """The files that are mapped into the process now."""

    def __init__(self) -> None:
        try:
            self._mappings = sorted(_mappings(), key=lambda one: one.begin)
        except OSError:  # the system does not say
            self._mappings = []
        self._begins = [one.begin for one in self._mappings]
        self._open: dict[str, OpenFile | None] = {}

    def part(self, tensor: Tensor) -> FilePart | None:
        """Return where the bytes of a tensor are in a file; None where they are not, or no longer, those of one."""
        begin = tensor.data_ptr()
        number = bisect_right(self._begins, begin) - 1
        is_dense = torch.empty_like(tensor, device="meta").stride() == tensor.stride()
        if number < 0 or tensor.nbytes == 0 or not is_dense:
            return None
        mapping = self._mappings[number]
        file = self._file(mapping)
        if begin + tensor.nbytes > mapping.end or file is None:
            return None
        part = FilePart(file, mapping.offset + begin - mapping.begin, mapping.is_private)
        return part if part.is_unchanged(tensor) else None

    def _file(self, mapping: _Mapping) -> OpenFile | None:
        """Open the file of a mapping, unless another one has its name now."""
        if mapping.path not in self._open:
            try:
                file = OpenFile(mapping.path)
            except OSError:
                self._open[mapping.path] = None
                return None
            found = os.fstat(file.number)
            device = (os.major(found.st_dev), os.minor(found.st_dev))
            is_same = found.st_ino == mapping.inode and device == mapping.device
            self._open[mapping.path] = file if is_same else None
        return self._open[mapping.path]


@dataclass(frozen=True)
class Read:
    """Bytes of a file, and where they go in the memory that is filled."""

    part: FilePart
    begin: int  # in the file, from the part's offset on
    to: int
    size: int


class FileReader:
    """Reads weights from files into memory of the GPU, or of the CPU.

    Several reads run at once, each by threads of the library, so that one begins while the last pieces of another
    arrive. They are begun in the order in which they were asked for.
    """

    def __init__(self, node: Node, copies: Any) -> None:
        self._copies = copies  # the stream after which the targets are free; None on the CPU
        threads = min(len(os.sched_getaffinity(0)), _MOST_THREADS)
        at_once = 1 if copies is None else min(threads, _READS_AT_ONCE)
        self._copiers: SimpleQueue[Any] = SimpleQueue()  # that are free
        if copies is not None:
            for _ in range(at_once):
                self._copiers.put(_core.FileCopier(node._core, threads // at_once))
        self._feeders = ThreadPoolExecutor(at_once, thread_name_prefix="shiplap-weights")
        self._reads: list[Future[None]] = []  # that may not have ended

    def read(self, reads: Sequence[Read], target: Tensor, then: Callable[[], None]) -> Future[None]:
        """Fill a target with these bytes when the stream of copies has come so far, and call `then`."""
        free = None
        if self._copies is not None:
            free = torch.cuda.Event()
            free.record(self._copies)
        self._reads = [one for one in self._reads if not one.done()]
        self._reads.append(self._feeders.submit(self._fill, reads, target, free, then))
        return self._reads[-1]

    def drain(self) -> None:
        """Wait until everything that was asked for has been read."""
        wait(self._reads)

    def close(self) -> None:
        """End the threads, after what they were asked for."""
        self._feeders.shutdown()

    def _fill(self, reads: Sequence[Read], target: Tensor, free: Any, then: Callable[[], None]) -> None:
        if free is not None:
            free.synchronize()
        parts = [(*one.part.at(one.begin), one.size, one.to) for one in reads]
        if self._copies is not None:
            copier = self._copiers.get()
            try:
                copier.copy(parts, target.data_ptr(), target.numel())
            finally:
                self._copiers.put(copier)
        else:
            for number, offset, path, size, to in parts:
                _core.read_file(number, offset, path, target.data_ptr() + to, size)
        then()
