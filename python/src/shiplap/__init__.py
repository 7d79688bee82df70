"""Measure, model, plan and run pipelines between host memory and GPUs.

A node is a device with measured figures. A job is arrays and a kernel. A plan says how the job runs fastest on the
node, and runs it::

    import numpy as np
    import shiplap

    node = shiplap.Node.load_or_measure("virtual:h200")
    x = np.arange(1 << 20, dtype=np.float32)
    y = np.empty_like(x)
    job = shiplap.Job(len(x), "double").in_("x", x).out("y", y)
    job = job.host_kernel(lambda chunk, x, y: np.multiply(x, 2, out=y))
    plan = node.plan(job)
    print(plan)
    print(plan.run())

Times are in seconds and sizes in bytes, unless a name says otherwise.
"""

from shiplap._adaptive import Adaptive
from shiplap._arrays import ArraySpec, Chunk, Stream, View
from shiplap._copy import Copier
from shiplap._core import Cancelled, CheckFailed, Error, TimedOut, Unsupported, UsageError
from shiplap._core import version as __version__
from shiplap._cuda_text import ItemFunction
from shiplap._job import Job, Reach, blocks, halo, mapped_by, strided
from shiplap._move import move, move_back
from shiplap._node import Movers, Node, default_node, devices, pinned_empty, profiles
from shiplap._plan import Plan, Prepared, Report, Run
from shiplap._step import PreparedStep, Step, StepPlan

__all__ = [
    "Adaptive",
    "ArraySpec",
    "Cancelled",
    "CheckFailed",
    "Chunk",
    "Copier",
    "Error",
    "ItemFunction",
    "Job",
    "Movers",
    "Node",
    "Plan",
    "Prepared",
    "PreparedStep",
    "Reach",
    "Report",
    "Run",
    "Step",
    "StepPlan",
    "Stream",
    "TimedOut",
    "Unsupported",
    "UsageError",
    "View",
    "__version__",
    "blocks",
    "default_node",
    "devices",
    "halo",
    "mapped_by",
    "move",
    "move_back",
    "pinned_empty",
    "profiles",
    "strided",
]
