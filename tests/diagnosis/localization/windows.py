"""A small engine for tests: executes a toy program in child processes and traces chosen ticks.

A toy program is a file with ``main(run)``. ``run`` gives ``track``, ``rng`` and ``ticks``; the
window is a stretch of ticks, traced from before the body of the first to after the body of the last.
Run as a script, this file is the child.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import twice

SRC = Path(next(iter(twice.__path__))).parent


class Run:
    """What a toy program sees."""

    __module__ = "twice.recorder.run"  # it stands for the engine's, which is no state

    def __init__(self, first, last, tracer_of):
        self.components, self.streams = {}, {}
        self._first, self._last, self._tracer_of = first, last, tracer_of
        self.trace = None

    def track(self, name, component):
        self.components[name] = component
        return component

    def rng(self, name):
        import numpy as np

        self.streams[f"streams.{name}"] = np.random.default_rng(7)
        return self.streams[f"streams.{name}"]

    def ticks(self, count):
        return Ticks(self, count)


class Ticks:
    def __init__(self, run, count):
        self._run, self._count, self._tick, self._tracer = run, count, -1, None

    def __iter__(self):
        return self

    def __next__(self):
        run = self._run
        self._tick += 1
        if self._tick == run._first:
            self._tracer = run._tracer_of(run)
            self._tracer.start()
        if self._tick == run._last + 1:
            run.trace = self._tracer.stop()
            self._tracer = None
        if self._tick == self._count:
            if self._tracer is not None:
                run.trace = self._tracer.stop()
            raise StopIteration
        return self._tick


def child(asked):
    import importlib.util
    import time

    from twice.diagnosis.tracing.trace import FlowPlan, SamplePlan
    from twice.diagnosis.tracing.tracer import Tracer

    if "TOY_CLOCK" in os.environ:
        fixed = float(os.environ["TOY_CLOCK"])
        time.time = lambda: fixed
    if "TOY_HEAP" in os.environ:
        junk = [object() for _ in range(int(os.environ["TOY_HEAP"]))]
        del junk[::3]
    program = asked["program"]
    spec = importlib.util.spec_from_file_location("toy", program)
    toy = importlib.util.module_from_spec(spec)
    sys.modules["toy"] = toy
    spec.loader.exec_module(toy)
    plan = (
        FlowPlan()
        if asked["points"] is None
        else SamplePlan(
            tuple((lane, index) for lane, index in asked["points"]), tuple(asked["show"])
        )
    )

    def tracer_of(run):
        def roots():
            found = {**run.streams}
            for name, component in run.components.items():
                if hasattr(component, "state"):
                    found[name] = component.state()
                    found[f"object:{name}"] = component
                else:
                    found[name] = component
            for name, value in vars(toy).items():
                if not name.startswith("__") and type(value).__name__ not in {"module", "function"}:
                    found[f"toy:{name}"] = value
            return found

        return Tracer(
            plan,
            is_user_code=program.__eq__,
            roots=roots,
            positions=lambda: b"",
            own_modules=lambda: ("toy",),
        )

    run = Run(asked["first"], asked["last"], tracer_of)
    toy.main(run)
    return run.trace.to_bytes()


class Case:
    """A toy program and the surroundings of its two sides."""

    def __init__(self, folder, source, *, a=None, b=None, first=0, last=0, python=sys.executable):
        self.path = folder / "toy.py"
        self.path.write_text(textwrap.dedent(source).lstrip())
        self.surroundings = {"a": a or {}, "b": b or {}}
        self.first, self.last, self.python = first, last, python
        self.traces = []

    def trace(self, side, repeat, plan):
        from twice.diagnosis.tracing.trace import FlowPlan, Trace

        flow = isinstance(plan, FlowPlan)
        asked = {
            "program": str(self.path),
            "first": self.first,
            "last": self.last,
            "points": None if flow else [list(point) for point in plan.points],
            "show": [] if flow else list(plan.show),
        }
        environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ},
            "PYTHONPATH": str(SRC),
            "PYTHONHASHSEED": "0",
            # a set literal is laid out differently when its constant comes from a .pyc
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "TOY_REPEAT": str(repeat),
            **self.surroundings[side],
        }
        done = subprocess.run(
            [self.python, __file__, json.dumps(asked)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        trace = Trace.from_bytes(base64.b64decode(done.stdout.splitlines()[-1]))
        self.traces.append((side, repeat, plan, trace))
        return trace

    def locate(self, tracked=("box",), **options):
        from twice.diagnosis.localization.locate import locate

        return locate(self.trace, tracked=tracked, **options)

    @property
    def guilty(self):
        """The line that the toy program marks."""
        lines = self.path.read_text().splitlines()
        return next(number for number, line in enumerate(lines, 1) if line.endswith("# guilty"))


if __name__ == "__main__":
    print(base64.b64encode(child(json.loads(sys.argv[1]))).decode())
