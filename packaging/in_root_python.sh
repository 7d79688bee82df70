#!/bin/sh
# Runs in a bare root file system with Python, as a user who owns nothing: the wheel as pip installs it, without a GPU. The
# only argument is the folder with all wheels.
set -eu
wheels=$1
work=$(mktemp -d /tmp/shiplap-smoke.XXXXXX)
cd "$work"
python3 -m venv --without-pip venv
venv/bin/python "$(echo "$wheels"/pip-*.whl)/pip" install --quiet --no-cache-dir --no-index --find-links "$wheels" shiplap >&2
printf 'pip '
case $(venv/bin/shiplap --version) in *'formats  '*) printf 'version ' ;; *) exit 1 ;; esac
venv/bin/python - <<'PYTHON'
import numpy as np
import shiplap

print("import", end=" ")
node = shiplap.Node.load_or_measure("virtual:h200")
x = np.arange(1 << 20, dtype=np.float32)
y = np.empty_like(x)
job = shiplap.Job(len(x), "double").in_("x", x).out("y", y)
job = job.host_kernel(lambda chunk, x, y: np.multiply(x, 2, out=y))
plan = node.plan(job)
assert plan.predicted > 0
print("plan", end=" ")
report = plan.run()
assert report.simulated and (y == 2 * x).all()
print("run", end=" ")
try:
    shiplap.Node.load_or_measure("virtual:nowhere")
except shiplap.Error:  # an exception of the library becomes one of Python
    print("error", end=" ")
else:
    raise SystemExit("an unknown profile is no error")
PYTHON
# The program ends while runs go on in threads that outlive the interpreter.
venv/bin/python - <<'PYTHON'
import threading
import time

import numpy as np
import shiplap

node = shiplap.Node.load_or_measure("virtual:h100")
job = shiplap.Job(1 << 16, "endless").inout("x", np.zeros(1 << 16)).host_kernel(lambda chunk, x: sum(range(1000)))
plan = node.plan(job.kernel_time(1e-3), strategies="staged", chunks=8)


def work():
    prepared = plan.prepare()
    while True:
        prepared.run()


for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
PYTHON
printf 'end\n'
rm -r "$work"
