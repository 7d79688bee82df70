"""Weights that are mapped from files: where they are, and how they are read through pinned memory."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch  # type: ignore[import-not-found,unused-ignore]

from shiplap._core import Error
from shiplap._node import Node

Tensor = Any

# A thread reads this many bytes in a call, and a slot holds what all of them read.
_BYTES_OF_READ = 4 << 20
_SLOTS = 3
_MOST_THREADS = 8

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

    def read(self, memory: memoryview, offset: int) -> None:
        """Fill the memory with the bytes from `offset` on."""
        done = 0
        while done < len(memory):
            try:
                count = os.preadv(self.number, [memory[done:]], offset + done)
            except OSError as error:
                raise Error(f"{self.path}: cannot be read at byte {offset + done}: {error.strerror}") from error
            if count == 0:
                raise Error(
                    f"{self.path}: ends at byte {offset + done}, before weights that were mapped from it (to byte "
                    f"{offset + len(memory)}): somebody has cut it since"
                )
            done += count


@dataclass(frozen=True)
class FilePart:
    """Where in a file the bytes of a tensor are."""

    file: OpenFile
    offset: int
    is_private: bool  # whether pages of the mapping that were written to are no longer those of the file

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
    """Reads weights from files into memory of the GPU, in the order in which it is asked.

    Several threads fill a slot of pinned memory, from where one copy takes it, while they fill the next one.
    """

    def __init__(self, node: Node, device: Any, copies: Any) -> None:
        self._device = device
        self._copies = copies  # the stream of copies; None on the CPU
        self._threads = min(_MOST_THREADS, len(os.sched_getaffinity(0)))
        self._size = self._threads * _BYTES_OF_READ
        self._slots = [node.pinned_empty(self._size, np.uint8) for _ in range(_SLOTS)]
        self._copied: list[Any] = [None] * _SLOTS
        self._next = 0
        self._feeder = ThreadPoolExecutor(1, thread_name_prefix="shiplap-weights")
        self._readers = ThreadPoolExecutor(self._threads, thread_name_prefix="shiplap-reads")
        self.bytes = 0  # that were read

    def read(self, reads: Sequence[Read], target: Tensor, then: Callable[[], None]) -> Future[None]:
        """Fill a target with these bytes, and call `then` when the last copy is submitted."""
        return self._feeder.submit(self._fill, reads, target, then)

    def drain(self) -> None:
        """Wait until everything that was asked for is submitted."""
        self._feeder.submit(lambda: None).result()

    def close(self) -> None:
        """End the threads, after what they were asked for, and wait for the copies."""
        self._feeder.shutdown()
        self._readers.shutdown()
        for copied in self._copied:
            if copied is not None:
                copied.synchronize()

    def _fill(self, reads: Sequence[Read], target: Tensor, then: Callable[[], None]) -> None:
        with torch.inference_mode(False), torch.no_grad():
            for begin in range(0, target.numel(), self._size):
                self._fill_slot(reads, target[begin : begin + self._size], begin)
        then()

    def _fill_slot(self, reads: Sequence[Read], target: Tensor, begin: int) -> None:
        number = self._next
        self._next = (number + 1) % _SLOTS
        if self._copied[number] is not None:
            self._copied[number].synchronize()  # the GPU has read what the slot had before
        memory = self._slots[number].data
        tasks = []
        for one in reads:
            first, last = max(one.to, begin), min(one.to + one.size, begin + target.numel())
            for at in range(first, last, _BYTES_OF_READ):
                size = min(_BYTES_OF_READ, last - at)
                where = one.part.offset + one.begin + at - one.to
                place = memory[at - begin : at - begin + size]
                tasks.append(self._readers.submit(one.part.file.read, place, where))
                self.bytes += size
        wait(tasks)  # all of them, also where one fails: they write into the slot
        for task in tasks:
            task.result()
        source = torch.from_numpy(self._slots[number])[: target.numel()]
        if self._copies is None:
            target.copy_(source)
            return
        with torch.cuda.device(self._device), torch.cuda.stream(self._copies):
            target.copy_(source, non_blocking=True)
            if self._copied[number] is None:
                self._copied[number] = torch.cuda.Event()
            self._copied[number].record(self._copies)
