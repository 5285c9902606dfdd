"""Records of every format verify for ever, on every Python.

Each was made by the version that first wrote its format, with the program beside it, and is never
rewritten. They are of class logical: another Python comes with another numpy, whose states need not
be the same bits. ``objects-of-twice`` is bit-exact: its states hold what twice names in them.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import twice
from twice.errors import RecordUntrusted

SESSIONS = Path(__file__).parent / "session"
PASSED = {
    "run-session-1.twice": 86,
    "run-session-2.twice": 26,
    "objects-of-twice.twice": 4,
    "nursery.twice": 4,
}


@pytest.fixture
def travelled(tmp_path: Path) -> Path:
    """Copy the golden records to another place, as after a download."""
    for file in sorted(SESSIONS.iterdir()):
        if file.is_file():
            shutil.copy(file, tmp_path / file.name)
    return tmp_path


@pytest.mark.integration
@pytest.mark.parametrize("name", sorted(path.name for path in SESSIONS.glob("*.twice")))
def test_a_golden_record_verifies(name: str, travelled: Path) -> None:
    with pytest.raises(RecordUntrusted):
        twice.verify(travelled / name)
    with twice.trusting(travelled / name):
        statement = twice.verify(travelled / name)

    assert (statement.result, statement.failure) == ("PASS", None)
    assert statement.counts["passed"] == PASSED[name]


def test_a_golden_record_tells_its_inputs_without_executing() -> None:
    with twice.open(SESSIONS / "run-session-1.twice") as record:
        (push,) = record.inputs(tick=12)
        state = record.state_at(1)["walk"]

    assert (push.name, push.value) == ("push", 1)
    assert sorted(state) == ["place", "visits"]
