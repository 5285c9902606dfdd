"""Ten planted differences inside of steps are named, and six innocent programs get no operation blamed.

Each program is executed a dozen times in processes of its own: that is what ``diagnose`` does.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import twice

pytestmark = [pytest.mark.heavy, pytest.mark.integration]
pytest.importorskip("torch", reason="needs the extra twice[torch]")

SET = Path(__file__).parents[2] / "corpora" / "operation_set"
LABELS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    (SET / "labels.toml").read_text(encoding="utf-8")
)


def diagnose(name: str, folder: Path) -> dict[str, Any]:
    """Record a program in both surroundings, and return the verdict."""
    label, program = LABELS[name], SET / "programs" / f"{name}.py"
    records = []
    for side in ("a", "b"):
        out = folder / f"{name}.{side}.twice"
        twice.record(program, seed=1, out=out, env=label[side]).close()
        records.append(out)
    return twice.diagnose(*records).to_json()


def judge(name: str, verdict: Mapping[str, Any]) -> list[str]:
    """Return what a verdict says otherwise than the label."""
    label, found = LABELS[name], verdict.get("operation_inside") or {"outcome": "none"}
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
    if found["module"].partition(".")[2] != label.get("module", "") and "module" in label:
        wrong.append(f"module {found['module']}")
    factors = label.get("factors", [])
    if bool(found["factor"]) != bool(factors) or any(one not in found["factor"] for one in factors):
        wrong.append(f"factor {found['factor']}")
    return wrong


@pytest.mark.parametrize("name", LABELS)
def test_the_operation_is_named_and_nothing_innocent_is(name: str, tmp_path: Path) -> None:
    assert judge(name, diagnose(name, tmp_path)) == []
