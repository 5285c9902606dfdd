"""Every program in the guides and examples of this room is recorded, verified and restored."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from twice.recorder.cadence import Cadence
from twice.recorder.recorder import record
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


@pytest.mark.integration
def test_the_environment_of_the_guide_holds(tmp_path: Path) -> None:
    guide = (GUIDES / "gymnasium.md").read_text("utf-8")
    (program,) = re.findall(
        r'^```python title="balance.py"\n(.*?)^```', guide, re.MULTILINE | re.DOTALL
    )
    path = tmp_path / "balance.py"
    path.write_text(program, encoding="utf-8")

    holds(f"{path}:main", tmp_path / "a.twice", steps=40)


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
