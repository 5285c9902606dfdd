"""Programs written without a look at the code that judges them, sixty in each set: innocents pass, liars never do.

``labels.json`` of a set says of each what it is, what happens between recording and verification, and which
verdicts are right, or which error. How they were judged at the first look stands in ``docs/internals/first-looks.md``.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from programs import environ
from tiers import sampled

pytestmark = pytest.mark.integration

SETS = [
    Path(__file__).parents[1] / "corpora" / name
    for name in ("verdict_set", "second_verdict_set", "third_verdict_set")
]
LABELS: dict[Path, dict[str, Any]] = {
    each / f"{name}.py": label
    for each in SETS
    for name, label in json.loads((each / "labels.json").read_text("utf-8")).items()
}
SAMPLE = [
    *(f"i{number:02}" for number in (2, 10, 22)),
    *(f"l{number:02}" for number in (1, 10, 19)),
]
"""Three innocents and three liars of the first set, by how their names begin."""


@pytest.mark.parametrize(
    "program",
    sampled(
        LABELS,
        [path.stem for path in LABELS if path.stem[:3] in SAMPLE],
        name=lambda path: path.stem,
    ),
)
def test_the_verdict_is_right(program: Path, tmp_path: Path) -> None:
    label, name = LABELS[program], program.stem
    shutil.copy(program, tmp_path)
    if label.get("known"):
        pytest.xfail(label["known"])
    if absent := [
        each for each in label.get("needs", []) if importlib.util.find_spec(each) is None
    ]:
        pytest.skip(f"{absent[0]} is not installed")
    needed = label.get("verify_wrap", [])
    commands = [*needed[:1], *label.get("commands", [])]
    if missing := [command for command in commands if shutil.which(command) is None]:
        pytest.skip(f"{missing[0]} is not installed")
    try:
        _shell(label.get("setup", ""), tmp_path)
        target = f"{name}.py:{label['function']}" if label.get("function") else f"{name}.py"
        own = ["--", *label["args"]] if label["args"] else []
        made = tmp_path.parent / f"{name}.twice"
        how = ["--seed", "1", *label.get("record_args", []), "-o", made]
        record = ["record", *how, target, *own]
        _twice(record, tmp_path, label.get("record_env"), label.get("stdin_record", ""))
        _shell(label["between"], tmp_path)
        verify = ["verify", made, "--json", "--no-statement"]
        done = _twice(
            verify, tmp_path, label.get("verify_env"), label.get("stdin_verify", ""), needed
        )
    finally:
        for file in tmp_path.glob("*.pid"):
            with suppress(OSError, ValueError):
                os.kill(int(file.read_text()), signal.SIGTERM)
        _shell(label.get("cleanup", ""), tmp_path)

    assert "Traceback" not in done.stderr, done.stderr
    told = json.loads(done.stdout)
    said = told["error"]["id"] if "error" in told else told["result"]
    assert said in label["expected"], done.stdout + done.stderr


def _twice(
    arguments: Sequence[object],
    folder: Path,
    variables: Mapping[str, str] | None,
    given: str,
    wrap: Sequence[str] = (),
) -> subprocess.CompletedProcess[str]:
    command = [*wrap, sys.executable, "-m", "twice", *map(str, arguments)]
    return subprocess.run(
        command, cwd=folder, env={**environ(), **(variables or {})}, input=given,
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip


def _shell(command: str, folder: Path) -> None:
    """Run a command that may leave processes behind, so that nothing of theirs is waited for."""
    if command:
        subprocess.run(
            command, shell=True, cwd=folder, env={**environ(), "PY": sys.executable}, check=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
