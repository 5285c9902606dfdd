"""Ten planted differences inside of steps and the one of PPO are named, and six innocent programs get no operation blamed.

Each program is executed a few times, in forks of one process that has loaded torch: they stand for the executions of a
window, and have threads and kernels of their own. Two programs are recorded and diagnosed as well.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import twice
from twice.diagnosis.executions import Window
from twice.diagnosis.operations.inside import OperationSearch
from twice.diagnosis.runner import Runner
from twice.foundation.encoding import decode
from twice.recorder.environment.surroundings import Surroundings, Variable

pytestmark = pytest.mark.heavy
pytest.importorskip("torch", reason="needs the extra twice[torch]")

SET = Path(__file__).parents[2] / "corpora" / "operation_set"
LABELS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    (SET / "labels.toml").read_text(encoding="utf-8")
)
FORKS = """
import json, os, runpy, sys
import numpy, torch
from twice.foundation.encoding import encode
from twice.integrations import torch_trace
for line in sys.stdin:
    program, out, asked, variables = json.loads(line)
    child = os.fork()
    if child == 0:
        os.environ.update(variables)
        torch.set_num_threads(int(variables.get("OMP_NUM_THREADS", 1)))
        os.dup2(2, 1)
        trace = torch_trace.begin(asked)
        runpy.run_path(program, run_name="__main__")
        trace.end()
        with open(out, "wb") as file:
            file.write(encode({"traced": trace.describe(), "reproduces": True}))
        os._exit(0)
    print(os.waitpid(child, 0)[1], flush=True)
"""


class Forks:
    """A process that has loaded torch, and forks for each execution: kernels and threads are chosen after that."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", FORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._lock = threading.Lock()

    def execute(
        self, program: Path, out: Path, asked: Sequence[int], given: Mapping[str, str]
    ) -> None:
        assert self._process.stdin is not None, "it is a pipe"
        assert self._process.stdout is not None, "it is a pipe"
        with self._lock:
            print(
                json.dumps([str(program), str(out), list(asked), dict(given)]),
                file=self._process.stdin,
                flush=True,
            )
            assert self._process.stdout.readline() == "0\n", f"{program} fails"

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    started = Forks()
    yield started
    started.close()


class PlainSide:
    """A program that is traced from its beginning to its end in plain processes, without a record."""

    earliest = -1

    def __init__(
        self, forks: Forks, program: Path, variables: Mapping[str, str], out: Path
    ) -> None:
        self.surroundings = Surroundings(
            {name: Variable(value, "set") for name, value in variables.items()}
        )
        self._forks, self._program, self._out, self._count = forks, program, out, itertools.count()

    def trace_operations(
        self, window: Window, asked: Sequence[int], surroundings: Surroundings | None = None
    ) -> dict[str, Any]:
        del window
        pinned = (surroundings or self.surroundings).variables
        out = self._out.with_suffix(f".{next(self._count)}")
        given = {name: each.value or "" for name, each in pinned.items()}
        self._forks.execute(self._program, out, asked, given)
        message: Any = decode(out.read_bytes())
        return dict(message)


def find(forks: Forks, name: str, folder: Path) -> dict[str, Any]:
    """Return what is found inside of a program, from its beginning on."""
    label, program = LABELS[name], SET / "programs" / f"{name}.py"
    sides: list[Any] = [PlainSide(forks, program, label[side], folder / side) for side in "ab"]
    found = OperationSearch(Runner(*sides), lambda _: None).find(Window(-1, 1))
    assert found is not None, "the program does not use torch"
    return found.to_json()


def judge(name: str, found: Mapping[str, Any]) -> list[str]:
    """Return what was found otherwise than the label says."""
    label = LABELS[name]
    if label.get("canary"):
        is_blamed = found["outcome"] == "operation"
        return [f"{found['name']} is blamed"] if is_blamed else []
    if found["outcome"] != "operation":
        return [f"no operation is blamed: {found}"]
    lines = (SET / "programs" / f"{name}.py").read_text(encoding="utf-8").splitlines()
    line, mark = lines[found["line"] - 1], label.get("line", "# guilty")
    wrong = []
    if found["name"].split(".")[1] not in label["operation"]:
        wrong.append(f"operation {found['name']}")
    if mark not in line:
        wrong.append(f"line {found['line']}: {line}")
    if found["module"] != label.get("module", found["module"]):
        wrong.append(f"module {found['module']}")
    if any(factor not in found["factor"] for factor in label["factors"]):
        wrong.append(f"factor {found['factor']}")
    if not found["values"]:
        wrong.append("no values")
    return wrong


@pytest.mark.parametrize("name", LABELS)
def test_the_operation_is_named_and_nothing_innocent_is(
    forks: Forks, name: str, tmp_path: Path
) -> None:
    if find_spec(LABELS[name].get("needs", "torch")) is None:
        pytest.skip(f"needs {LABELS[name]['needs']}")
    assert judge(name, find(forks, name, tmp_path)) == []


@pytest.mark.parametrize("name", ["long_sum", "extra_draw"])
def test_the_verdict_on_two_records_has_what_was_found(name: str, tmp_path: Path) -> None:
    label, program = LABELS[name], SET / "programs" / f"{name}.py"
    records = []
    for side in ("a", "b"):
        records.append(tmp_path / f"{side}.twice")
        twice.record(program, seed=1, out=records[-1], env=label[side]).close()
    verdict = twice.diagnose(*records)
    assert judge(name, verdict.to_json()["operation_inside"]) == []
    assert "  inside: " in verdict.to_text()
    # From the beginning on a mean is the first, whose result comes to nothing.
    assert name != "long_sum" or verdict.to_json()["operation_inside"]["name"] == "aten.sum.default"
