"""Every program in the guides and examples of this room is recorded, verified and restored."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from twice.recording.cadence import Cadence
from twice.recording.recorder import record
from twice.replayer.restore_test import restores
from twice.replayer.verify import verify

REPOSITORY = Path(__file__).parents[2]
GUIDES = REPOSITORY / "docs" / "guides"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def holds(program: str, out: Path, **config: object) -> None:
    made = record(program, seed=7, config=config, out=out, cadence=Cadence("tick", 15))
    assert made.ending is not None
    assert made.ending["how"] == "completed", made.ending
    made.close()
    assert verify(out).to_json()["result"] == "PASS"
    restored = restores(out)
    assert restored["tested"] > 0
    assert restored["failed"] == []


def blocks(guide: str) -> str:
    text = (GUIDES / f"{guide}.md").read_text(encoding="utf-8")
    return "\n\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize(
    ("guide", "function", "config"),
    [
        pytest.param("gymnasium", "main", {"steps": 40}, marks=pytest.mark.integration),
        pytest.param("gymnasium", "fish", {}, marks=pytest.mark.heavy),
        pytest.param("gymnasium", "many", {}, marks=pytest.mark.heavy),
        pytest.param("mesa", "main", {"steps": 40}, marks=pytest.mark.heavy),
    ],
)
def test_the_programs_of_a_guide_hold(
    guide: str, function: str, config: dict[str, object], tmp_path: Path
) -> None:
    path = tmp_path / f"{guide}_guide.py"
    path.write_text(blocks(guide), encoding="utf-8")

    holds(f"{path}:{function}", tmp_path / "a.twice", **config)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("example", "config"),
    [
        ("ant", {"steps": 60}),
        ("ant", {"steps": 60, "env": "Pendulum-v1"}),
        ("mesa_model", {"people": 30, "days": 40}),
    ],
)
def test_the_examples_hold(example: str, config: dict[str, object], tmp_path: Path) -> None:
    holds(f"{REPOSITORY / 'examples' / example}.py:main", tmp_path / "a.twice", **config)
