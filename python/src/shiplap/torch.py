"""Functions and modules of PyTorch on tensors in host memory, and batches of a loader that are on the GPU in time.

>>> import shiplap.torch
>>> y = shiplap.torch.stream(model, x)  # host to host, in chunks, as planned
>>> for batch in shiplap.torch.prefetch(loader):  # batches on the GPU
...     train(batch)
"""

from shiplap._torch_prefetch import Prefetch, Way, prefetch
from shiplap._torch_stream import Streamed, stream, streamed

__all__ = ["Prefetch", "Streamed", "Way", "prefetch", "stream", "streamed"]
