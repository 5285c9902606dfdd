"""The repositories of the repair trials: each one's bug shows, and its reference correction is judged right.

Each run of a judge is an interpreter of its own, since hash seed, addresses and umask are a process's.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

CORPUS = Path(__file__).parents[1] / "corpora" / "repair_trials"
sys.path.insert(0, str(CORPUS))

from judge import judge  # noqa: E402

from tiers import sampled  # noqa: E402

pytestmark = pytest.mark.integration

ANSWERS: dict[str, Any] = json.loads((CORPUS / "answers.json").read_text("utf-8"))
BUGS = [name for name, answer in ANSWERS.items() if not answer["innocent"]]
SAMPLE = {"canal_levels"}


def copy_trial(name: str, place: Path) -> Path:
    return shutil.copytree(CORPUS / name, place / name)


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(old) == 1, f"{path.name} must hold this once: {old}"
    path.write_text(text.replace(old, new), "utf-8")


@pytest.mark.parametrize("name", sampled(BUGS, SAMPLE))
def test_the_bug_shows_and_its_correction_is_right(name: str, tmp_path: Path) -> None:
    assert not judge(CORPUS / name, name).reproducible

    folder = copy_trial(name, tmp_path)
    for change in ANSWERS[name]["correction"]:
        replace(folder / change["file"], change["old"], change["new"])
    found = judge(folder, name)

    assert found.complaints == ()
    assert found.right
    assert set(found.changed_files) == {each["file"] for each in ANSWERS[name]["correction"]}


def test_the_innocent_is_right_as_long_as_nobody_changes_it(tmp_path: Path) -> None:
    assert judge(CORPUS / "reservoir_forecast", "reservoir_forecast").right

    folder = copy_trial("reservoir_forecast", tmp_path)
    replace(folder / "ensemble.py", "ThreadPoolExecutor(4)", "ThreadPoolExecutor(1)")
    found = judge(folder, "reservoir_forecast")

    assert found.reproducible
    assert found.keeps_meaning
    assert (found.right, found.changed_lines) == (False, 2)


@pytest.mark.parametrize(
    ("name", "file", "old", "new", "complaint"),
    [
        pytest.param(
            "call_classifier",
            "augmentation.py",
            "return moved + self._hiss(moved.shape)",
            "return moved",
            "{'noise': 0.0} in settings.json and the output stays",
            marks=pytest.mark.heavy,
        ),
        pytest.param(
            "gauge_clusters",
            "settings.json",
            '"seed": 0',
            '"seed": 1',
            "changed settings.json",
            marks=pytest.mark.heavy,
        ),
        (
            "variant_service",
            "experiments.py",
            "hash((self.name, customer))",
            "0 * len(customer)",
            "one experiment decides the other",
        ),
    ],
)
def test_a_bug_that_is_avoided_is_not_mended(
    name: str, file: str, old: str, new: str, complaint: str, tmp_path: Path
) -> None:
    folder = copy_trial(name, tmp_path)
    replace(folder / file, old, new)
    found = judge(folder, name)

    assert found.reproducible
    assert complaint in found.complaints
    assert not found.right


@pytest.mark.parametrize("name", ANSWERS)
def test_guilty_lines_are_in_the_files(name: str) -> None:
    for guilty in ANSWERS[name]["guilty"]:
        lines = (CORPUS / name / guilty["file"]).read_text("utf-8").splitlines()
        assert guilty["line"] in [line.strip() for line in lines]
