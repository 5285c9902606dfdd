"""The lock of a scaffold: what it says, what is refused, and how far a project is from it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from small_system import build, lay_sheets, sheets
from twice.specification.errors import SheetRefused, SheetVersion, SpecForeign
from twice.specification.scaffold.lock import measure_drift
from twice.specification.scaffold.plan import apply_plan, make_plan
from twice.specification.workspace import open_workspace

SEEDS = "swarm/determinism/seeds.py"
COMPARE = "swarm/determinism/compare.py"
CONFTEST = "tests/conftest.py"
LOCK = "determinism-and-replay/scaffold.lock"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return build(tmp_path / "project")


def edit(project: Path, path: str, before: str, after: str) -> None:
    """Change a file as a person would."""
    text = (project / path).read_text(encoding="utf-8")
    assert before in text
    (project / path).write_text(text.replace(before, after), encoding="utf-8")


def test_a_component_that_the_sheets_are_not_of(project: Path) -> None:
    with pytest.raises(SpecForeign, match=r"specification is of 'swarm'"):
        make_plan(project, "flock")


def test_a_lock_of_another_component(project: Path) -> None:
    apply_plan(make_plan(project, "swarm"))
    edit(project, LOCK, '"component": "swarm"', '"component": "flock"')

    with pytest.raises(SpecForeign, match=r"files were laid down of 'flock'"):
        make_plan(project, "swarm")


@pytest.mark.parametrize(
    ("before", "after"),
    [("{", "["), ('"files"', '"parts"'), (SEEDS, f"../{SEEDS}"), ("blake3:", "md5:")],
)
def test_a_lock_that_is_broken(project: Path, before: str, after: str) -> None:
    apply_plan(make_plan(project, "swarm"))
    edit(project, LOCK, before, after)

    with pytest.raises(SheetRefused, match="is no lock of a scaffold"):
        make_plan(project, "swarm")


def test_a_lock_of_another_version(project: Path) -> None:
    apply_plan(make_plan(project, "swarm"))
    edit(project, LOCK, "twice.scaffold-lock/2", "twice.scaffold-lock/3")

    with pytest.raises(SheetVersion, match="scaffold-lock/3"):
        make_plan(project, "swarm")


def test_the_lock_names_the_facts_of_each_file_and_nothing_of_the_moment(project: Path) -> None:
    apply_plan(make_plan(project, "swarm"))
    lock = json.loads((project / LOCK).read_bytes())

    assert sorted(lock["files"][SEEDS]["facts"]) == ["02.names", "03.slots"]
    assert (project / LOCK).read_text("utf-8") == (
        json.dumps(lock, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    )
    assert all(each.holds for each in measure_drift(open_workspace(project)))


def test_drift_is_told_file_by_file(project: Path) -> None:
    apply_plan(make_plan(project, "swarm"))
    edit(project, SEEDS, "Each stream and the kind", "Mine: each stream and the kind")
    (project / CONFTEST).write_text("# mine\n", encoding="utf-8")
    (project / COMPARE).unlink()
    said = sheets()
    said["10"]["audit"] = ["swarm", "scripts"]
    lay_sheets(project, said)

    drift = {each.path: each for each in measure_drift(open_workspace(project))}

    assert (drift[SEEDS].state, drift[SEEDS].holds) == ("edited", False)
    assert (drift[CONFTEST].state, drift[CONFTEST].holds) == ("edited", True)
    assert drift[COMPARE].state == "gone"
    audit = drift["tests/test_determinism_effects.py"]
    assert (audit.state, audit.moved, audit.holds) == ("as-laid", ("10.audit",), False)
