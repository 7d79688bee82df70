import copy
import os
import random

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
