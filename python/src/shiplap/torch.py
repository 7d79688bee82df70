"""PyTorch: functions and modules on tensors in host memory, batches that are on the GPU in time, and advice.

>>> import shiplap.torch
>>> y = shiplap.torch.stream(model, x)  # host to host, in chunks, as planned
>>> for batch in shiplap.torch.prefetch(loader):  # batches on the GPU
...     train(batch)
>>> print(shiplap.torch.advise(profiler))  # what would make it faster
"""

from shiplap._torch_advise import Advice, advise
from shiplap._torch_prefetch import Prefetch, Way, prefetch
from shiplap._torch_stream import Streamed, stream, streamed

__all__ = ["Advice", "Prefetch", "Streamed", "Way", "advise", "prefetch", "stream", "streamed"]
