#!/usr/bin/env python3
"""Run an unmodified script under the PyTorch profiler, and export its trace.

  profiled.py TRACE SECONDS SCRIPT [ARGUMENT...]

The script runs as __main__. It is ended after SECONDS. The trace is exported whatever ends it: its own end, sys.exit,
an exception or the time. The exit status is that of the script, and 0 when the time has ended it.
"""

import multiprocessing
import os
import runpy
import signal
import sys
import traceback
from pathlib import Path


class Ended(BaseException):
    """The time is over. It is no Exception, so that the script does not take it for one of its own."""


def end(*_: object) -> None:
    raise Ended


def main() -> None:
    trace, seconds, script = str(Path(sys.argv[1]).resolve()), float(sys.argv[2]), sys.argv[3]
    sys.argv = sys.argv[3:]
    sys.path[0] = str(Path(script).resolve().parent)
    import torch
    from torch.profiler import ProfilerActivity, profile

    torch.cuda.init()
    own, status = os.getpid(), 0
    profiler = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    signal.signal(signal.SIGALRM, end)
    profiler.start()
    signal.setitimer(signal.ITIMER_REAL, seconds, 5)  # again after 5 s, if a destructor has swallowed the first
    try:
        runpy.run_path(script, run_name="__main__")
    except Ended:
        pass
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    if os.getpid() != own:
        os._exit(status)  # a worker that the script has forked
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    torch.cuda.synchronize()
    profiler.stop()
    profiler.export_chrome_trace(trace)
    for child in multiprocessing.active_children():
        child.terminate()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # threads of the script may run on


if __name__ == "__main__":
    main()
