"""PyTorch: tensors in host memory, batches that are on the GPU in time, models that are larger than it, and advice.

>>> import shiplap.torch
>>> y = shiplap.torch.stream(model, x)  # host to host, in chunks, as planned
>>> for batch in shiplap.torch.prefetch(loader):  # batches on the GPU
...     train(batch)
>>> shiplap.torch.offload(model, "8 GiB")  # a model that is larger than its GPU
>>> print(shiplap.torch.advise(profiler))  # what would make it faster
"""

from shiplap._torch_advise import Advice, advise
from shiplap._torch_layers import LayerPlan
from shiplap._torch_offload import Offloaded, fit, offload
from shiplap._torch_prefetch import Prefetch, Way, prefetch
from shiplap._torch_stream import Streamed, stream, streamed

__all__ = [
    "Advice",
    "LayerPlan",
    "Offloaded",
    "Prefetch",
    "Streamed",
    "Way",
    "advise",
    "fit",
    "offload",
    "prefetch",
    "stream",
    "streamed",
]
