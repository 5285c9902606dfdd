"""Pairs of records, one of them made on another numpy, another BLAS or another processor.

Of ten, the verdict names the row of the environment that is to blame. Of four, the cause lies in the program,
and the environment is not blamed. Each side is an interpreter of its own, since it has other libraries.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

import environments
from programs import HANGS_AFTER_S

SET = Path(__file__).parents[1] / "corpora" / "environment_set"
SOURCE = Path(__file__).parents[2] / "src"
LABELS = json.loads((SET / "labels.json").read_text("utf-8"))
ROWS = re.compile(r"made on something else: (.*)")
PINNED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""Variables that would have OpenBLAS compute alike on other processors."""


def run(python: str, folder: Path, codes: set[int], *arguments: str, **variables: str) -> str:
    """Run twice on an interpreter; return what it prints."""
    kept = {name: value for name, value in os.environ.items() if name not in PINNED}
    done = subprocess.run(
        [python, "-m", "twice", *arguments],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(SOURCE), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS_AFTER_S,
    )
    assert done.returncode in codes, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def foreign(name: str, here: str, folder: Path) -> tuple[str, dict[str, str]]:
    """Return the interpreter that a label names and its variables, or skip with the reason why there is none."""
    variables = {}
    if name == "emulated processor":
        python, why = environments.emulated(here, folder)
        variables = {
            "PYTHONPATH": os.pathsep.join((str(folder), str(SOURCE))),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CACHE_HOME": str(
                folder / "cache"
            ),  # measured probes of this processor are kept there
        }
    elif name == "blas of numpy 2.2.6":
        python, why = environments.numpy_on_other_blas()
    else:
        python, why = environments.numpy_of(name.replace(" ", "=="))
    if not python:
        pytest.skip(why)
    return python, variables


def diagnose(name: str, folder: Path) -> dict[str, Any]:
    """Record a program of the set here and on its other environment, and diagnose the two here."""
    label = LABELS[name]
    here, why = environments.numpy_of(environments.NUMPY)
    if not here:
        pytest.skip(why)
    python, variables = foreign(label["on"], here, folder / "foreign")
    shutil.copy(SET / "programs" / f"{name}.py", folder)
    program = f"{name}.py:main" if label["kind"] == "function" else f"{name}.py"
    for side in ("a", "b"):
        chosen, more = (python, variables) if side == label["side"] else (here, {})
        given = [f"--env={key}={value}" for key, value in label.get(side, {}).items()]
        run(
            chosen,
            folder,
            {0},
            "record",
            program,
            "--seed=5",
            f"--out={side}.twice",
            *given,
            **more,
        )
    found = run(here, folder, {0, 1, 2}, "diagnose", "a.twice", "b.twice", "--trust", "--json")
    verdict: dict[str, Any] = json.loads(found)
    if verdict["result"] == "same":  # their digests are equal, so there is nothing to explain
        pytest.skip("this processor computes the program alike in both environments")
    return verdict


def list_blamed_rows(verdict: dict[str, Any]) -> list[str]:
    """Return the rows of the environment that the first evidence of the first channel names."""
    evidence = verdict["attribution"][0]["evidence"] if verdict["attribution"] else []
    named = ROWS.search(evidence[0]) if evidence else None
    return [row.partition(" (")[0] for row in named[1].split("; ")] if named else []


@pytest.mark.heavy
@pytest.mark.parametrize("name", [name for name, label in LABELS.items() if "blamed" in label])
def test_the_verdict_blames_the_row_of_the_environment(name: str, tmp_path: Path) -> None:
    verdict = diagnose(name, tmp_path)
    rows, label = list_blamed_rows(verdict), LABELS[name]
    assert any(fnmatchcase(row, pattern) for row in rows[:1] for pattern in label["blamed"]), (
        verdict
    )
    assert verdict["classification"] == label["classification"]


@pytest.mark.heavy
@pytest.mark.parametrize("name", [name for name, label in LABELS.items() if "guilty" in label])
def test_the_verdict_blames_the_program(name: str, tmp_path: Path) -> None:
    verdict = diagnose(name, tmp_path)
    assert not list_blamed_rows(verdict), verdict
    operation = verdict["operation"]
    assert f"{Path(operation['file']).name}:{operation['line']}" in LABELS[name]["guilty"], verdict
    assert verdict["attribution"][0]["channel"] in LABELS[name]["channels"]
