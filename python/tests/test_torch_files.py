import copy
import os
import random
import signal
import time

import pytest

import shiplap

torch = pytest.importorskip("torch")
import shiplap.torch  # noqa: E402
from layered_models import Drawn, Net, weights_of  # noqa: E402
from shiplap import _torch_files  # noqa: E402


def mapped(model, path):
    """Return a copy of the model whose weights are mapped from a file, and the file."""
    torch.save(model.state_dict(), path)
    copied = copy.deepcopy(model)
    copied.load_state_dict(torch.load(path, mmap=True, weights_only=True), assign=True)
    return copied.eval()


@pytest.fixture
def reads(monkeypatch):
    """Return a list of what is read from files: sizes."""
    sizes = []
    read_file = _torch_files._core.read_file

    def noted(number, offset, path, address, size):
        sizes.append(size)
        read_file(number, offset, path, address, size)

    monkeypatch.setattr(_torch_files._core, "read_file", noted)
    return sizes


def pinned_bytes(model):
    return sum(layer.size for layer in model.offloaded._layers if layer.host is not None)


@pytest.mark.parametrize("part", [0, 0.3, 0.7, 1])
def test_weights_beyond_the_limit_of_host_memory_are_read_from_their_file_with_the_same_bits(
    node, tmp_path, reads, part
):
    resident = Net().eval()
    model = mapped(resident, tmp_path / "weights.pt")
    memory = weights_of(model) // 3
    streamed = shiplap.torch.fit(model, memory, node=node).streamed
    shiplap.torch.offload(model, memory, node=node, host_memory=int(streamed * part))
    assert pinned_bytes(model) <= streamed * part
    with torch.no_grad():
        for rows in (1, 7, 3):
            x = torch.rand(rows, 64)
            assert torch.equal(model(x), resident(x))
    if part < 1:
        in_files = sum(layer.size for layer in model.offloaded._layers if layer.host is None)
        assert 3 * in_files * 0.9 <= sum(reads) <= 5 * in_files  # alignment; what is fetched ahead
    else:
        assert not reads
    state = model.state_dict()
    model.offloaded.remove()
    for name, tensor in resident.state_dict().items():
        assert torch.equal(state[name], tensor)


def test_random_models_from_files_give_the_same_bits_also_when_weights_change(node, tmp_path):
    for seed in range(40):
        rng = random.Random(seed)
        torch.manual_seed(seed)
        resident = Drawn(rng).eval()
        model = mapped(resident, tmp_path / f"{seed}.pt")
        memory = rng.randint(70 << 10, 200 << 10)
        shiplap.torch.offload(model, memory, node=node, host_memory=rng.choice([0, 20 << 10, 80 << 10]))
        with torch.no_grad():
            for _ in range(5):
                x = torch.rand(rng.randint(1, 4), 16)
                assert torch.equal(model(x), resident(x)), seed
                if rng.random() < 0.3:
                    number = rng.randrange(len(model.parts))
                    for one in (model, resident):
                        one.parts[number].up.weight.mul_(1.5)
                if rng.random() < 0.3:
                    rng.shuffle(model.order)
                    resident.order = list(model.order)
        model.offloaded.remove()


def test_weights_that_were_changed_after_they_were_mapped_are_not_read_from_the_file(node, tmp_path, reads):
    resident = Net().eval()
    model = mapped(resident, tmp_path / "weights.pt")
    with torch.no_grad():
        for one in (model, resident):
            one.blocks[2].up.weight[0, 0] = 7  # in a page of its own that is no longer the file's
        memory = weights_of(model) // 3
        streamed = shiplap.torch.fit(model, memory, node=node).streamed
        shiplap.torch.offload(model, memory, node=node, host_memory=int(streamed * 0.8))
        x = torch.rand(3, 64)
        assert torch.equal(model(x), resident(x))
        assert torch.equal(model(x), resident(x))
    assert reads


def test_weights_in_no_file_and_beyond_the_limit_are_refused_and_the_model_stays_as_it_was(node):
    model = Net().eval()
    with pytest.raises(shiplap.Unsupported, match=r"in no file.*host_memory is 1000.*mmap=True"):
        shiplap.torch.offload(model, weights_of(model) // 3, node=node, host_memory=1000)
    assert not hasattr(model, "offloaded")
    model(torch.rand(1, 64))


def test_a_file_that_is_cut_is_an_error_with_path_and_offset_and_the_model_works_when_it_is_whole_again(node, tmp_path):
    path = tmp_path / "weights.pt"
    resident = Net().eval()
    model = mapped(resident, path)
    for buffer in model.buffers():  # which stay mapped where the "GPU" is the CPU
        buffer.data = buffer.data.clone()
    shiplap.torch.offload(model, weights_of(model) // 3, node=node, host_memory=0)
    whole = path.read_bytes()
    x = torch.rand(3, 64)
    with torch.no_grad():
        model.offloaded._wait_for_copies()
        os.truncate(path, 1000)
        with pytest.raises(shiplap.Error, match=r"weights\.pt ends at byte \d+, and its bytes up to"):
            for _ in range(2):  # what is there already may last for one call
                model(x)
        with open(path, "r+b") as file:
            file.write(whole)
        assert torch.equal(model(x), resident(x))
        assert torch.equal(model(x), resident(x))


def test_a_file_that_is_replaced_while_it_is_mapped_is_read_as_it_was(node, tmp_path):
    path = tmp_path / "weights.pt"
    resident = Net().eval()
    model = mapped(resident, path)
    shiplap.torch.offload(model, weights_of(model) // 3, node=node, host_memory=0)
    other = tmp_path / "other"
    other.write_bytes(b"\0" * path.stat().st_size)
    os.replace(other, path)
    x = torch.rand(3, 64)
    with torch.no_grad():
        assert torch.equal(model(x), resident(x))
        assert torch.equal(model(x), resident(x))
    # Who opens it by its name now finds another file.
    late = Net().eval()
    torch.save(late.state_dict(), path)
    late.load_state_dict(torch.load(path, mmap=True, weights_only=True), assign=True)
    other.write_bytes(path.read_bytes())
    os.replace(other, path)
    with pytest.raises(shiplap.Unsupported, match="in no file"):
        shiplap.torch.offload(late, weights_of(late) // 3, node=node, host_memory=0)


def test_nothing_is_read_from_files_where_the_system_does_not_say_what_is_mapped(node, tmp_path, monkeypatch):
    resident = Net().eval()
    model = mapped(resident, tmp_path / "weights.pt")

    def refuse(path, *_, **__):
        raise PermissionError(1, "not here", path)

    monkeypatch.setattr(_torch_files, "open", refuse, raising=False)
    with pytest.raises(shiplap.Unsupported, match="in no file"):
        shiplap.torch.offload(model, weights_of(model) // 3, node=node, host_memory=0)
    x = torch.rand(3, 64)
    with torch.no_grad():
        assert torch.equal(model(x), resident(x))


def test_an_interrupt_while_weights_are_read_loses_none_of_them(node, tmp_path, monkeypatch):
    resident = Net().eval()
    model = mapped(resident, tmp_path / "weights.pt")
    read_file = _torch_files._core.read_file

    def slow(*arguments):
        time.sleep(0.05)
        read_file(*arguments)

    monkeypatch.setattr(_torch_files._core, "read_file", slow)
    shiplap.torch.offload(model, weights_of(model) // 3, node=node, host_memory=0)
    x = torch.rand(3, 64)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        with torch.no_grad(), pytest.raises(KeyboardInterrupt):
            model(x)
    finally:
        signal.signal(signal.SIGALRM, before)
    with torch.no_grad():
        for _ in range(3):
            assert torch.equal(model(x), resident(x))


def test_a_set_up_that_is_refused_leaves_weights_in_their_files(node, tmp_path):
    resident = Net().eval()
    model = mapped(resident, tmp_path / "weights.pt")
    with torch.no_grad():
        model.last.weight += 1  # is no longer that of the file
        resident.last.weight += 1
    memory = weights_of(model) // 3
    with pytest.raises(shiplap.Unsupported, match="are in no file") as refused:
        shiplap.torch.offload(model, memory, node=node, host_memory=0)
    in_no_file = int(str(refused.value).split()[0])
    assert in_no_file < weights_of(model) // 2
    shiplap.torch.offload(model, memory, node=node, host_memory=in_no_file)
    x = torch.rand(3, 64)
    with torch.no_grad():
        assert torch.equal(model(x), resident(x))


def test_several_reads_run_at_once_and_all_are_waited_for(node, monkeypatch):
    running, most, done = [0], [0], []

    class Copier:
        def __init__(self, *_):
            pass

        def copy(self, parts, address, size):
            running[0] += 1
            most[0] = max(most[0], running[0])
            time.sleep(0.05)
            running[0] -= 1
            done.append(address)

    class Event:
        def record(self, stream):
            pass

        def synchronize(self):
            pass

    monkeypatch.setattr(_torch_files._core, "FileCopier", Copier)
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))
    reader = _torch_files.FileReader(node, copies=object())
    targets = [torch.empty(8, dtype=torch.uint8) for _ in range(12)]
    then = []
    readings = [reader.read([], target, lambda: then.append(1)) for target in targets]
    reader.drain()
    assert len(done) == len(then) == len(targets)
    assert all(reading.done() for reading in readings)
    assert most[0] == 4
    reader.close()
