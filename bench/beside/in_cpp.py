"""The contenders of the program `beside` (main.cu), which answers requests line by line."""

import json
import subprocess

from contender import Absent, Contender


class Program:
    """The running program. Its messages on stderr pass through."""

    def __init__(self, path, device, profile):
        self.process = subprocess.Popen(
            [path, device, profile], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.greeting = self._answer()

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the program `beside` ended with status {self.process.wait()}; its message is above")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def contenders(self, work):
        """The contenders of a work, made ready, and those that are absent."""
        answer = self.ask(
            do="prepare",
            memory=work.memory,
            items=work.items,
            device_memory=work.device_memory,
            chunks=work.chunks,
            slices=work.slices,
        )
        contenders = [self._contender(i, c) for i, c in enumerate(answer["contenders"])]
        return contenders, [Absent(**absent) for absent in answer["absent"]]

    def _contender(self, index, description):
        return Contender(
            run=lambda runs: self.ask(do="run", contender=index, runs=runs)["ms"],
            check=lambda: self.ask(do="check", contender=index)["right"],
            **description,
        )

    def close(self):
        self.process.stdin.close()
        self.process.wait()
