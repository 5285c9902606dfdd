"""Costs in a specification: cells that were measured change, and no other byte; files are whole or as they were."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from costedprograms import SWARM, declared
from hypothesis import given
from hypothesis import strategies as st
from madecosts import made_cost
from sheets_written import artifact, write

from programs import environ
from twice.errors import OutputUnwritable, WorkspaceRefused
from twice.specifying.artifact import decoded, read_artifact
from twice.specifying.costing.costing import chosen_rules, measure_cost
from twice.specifying.costing.evidence import EVIDENCE, evidence_bytes, with_costs, write_evidence
from twice.specifying.costing.rules import RULES, Unswitched
from twice.specifying.sheets import SHEETS
from twice.specifying.workspace import FOLDER

PATH = f"{FOLDER}/13-cost-of-determinism.md"
OWN = textwrap.dedent("""\
    ---
    schema: "twice.spec/1"
    id: "13"
    title: "Cost of determinism"
    component: "swarm"
    version: "0.1.0"
    # what it costs us
    rules:
      - rule: "snapshots"
        performance: "?"
        # nobody else could say that
        library: "numpy alone"  # since May
        storage: "?"
        refactoring: "two weeks"
        operations: "?"
        cognitive: "one more word"
      - rule: "our own schedule"
        performance: "+3 %"
        storage: "none"
        library: "asyncio"
        refactoring: "none"
        operations: "none"
        cognitive: "much"

      # to be continued
    measured: "?"
    unmeasured: ["our own schedule: nobody can switch it off", "locale: once"]
    budget_percent: 100  # agreed
    ---

    # Cost of determinism

    Text of ours: rules: measured: "?"
    """)

REASONS = (
    'unmeasured: ["our own schedule: nobody can switch it off", "locale: once"]',
    'unmeasured:\n  - "our own schedule: nobody can switch it off"\n  - "locale: once"',
)
"""The same list, a line for each."""


def sheet_of(data: bytes, path: str = PATH) -> bytes:
    """A sheet's bytes with the cost of snapshots, made up, in them."""
    return with_costs(data, read_artifact(decoded(data, path), SHEETS["13"], path), made_cost())


def test_measured_cells_change_and_no_other_byte() -> None:
    own = OWN.replace(*REASONS)
    before, after = own.split("\n"), sheet_of(own.encode()).decode().split("\n")
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]

    assert changed == [
        ('    performance: "?"', '    performance: "+50.0 % wall, +50.0 % CPU"'),
        ('    storage: "?"', '    storage: "+1,000 bytes"'),
        ('measured: "?"', f'measured: "{EVIDENCE}"'),
        ('  - "locale: once"', f'  - "sub-seeds by name: {made_cost().unmeasured[0].why}"'),
    ]


def test_reasons_of_people_stay_and_ours_are_told_anew() -> None:
    found = read_artifact(decoded(sheet_of(OWN.encode()), PATH), SHEETS["13"], PATH)

    assert found.listed("unmeasured") == [
        "our own schedule: nobody can switch it off",
        f"sub-seeds by name: {made_cost().unmeasured[0].why}",
    ]


def test_writing_twice_changes_nothing_more() -> None:
    once = sheet_of(OWN.encode())

    assert sheet_of(once) == once


def test_a_new_rule_comes_in_with_questions_for_people() -> None:
    data = OWN.encode()
    sheet = read_artifact(decoded(data, PATH), SHEETS["13"], PATH)
    after = with_costs(data, sheet, made_cost("hash seed", "snapshots")).decode()
    rows = read_artifact(after, SHEETS["13"], PATH).head.entries["rules"].value

    assert isinstance(rows, list)
    assert [row["rule"] for row in rows if isinstance(row, dict)] == [
        "snapshots",
        "our own schedule",
        "hash seed",
    ]
    assert rows[2] == {
        "rule": "hash seed",
        "performance": "+50.0 % wall, +50.0 % CPU",
        "storage": "+1,000 bytes",
        "library": "?",
        "refactoring": "?",
        "operations": "?",
        "cognitive": "?",
    }
    assert "  # to be continued\n" in after


def test_a_rule_that_cannot_be_measured_any_more_keeps_no_figure() -> None:
    data = OWN.encode()
    sheet = read_artifact(decoded(data, PATH), SHEETS["13"], PATH)
    gone = Unswitched("snapshots", "04", "it is not in force in this run: no snapshot")
    after = with_costs(data, sheet, made_cost("hash seed", unmeasured=(gone,)))
    row = read_artifact(decoded(after, PATH), SHEETS["13"], PATH).rows("rules")[0]

    assert (row["performance"], row["storage"]) == ("unmeasured", "unmeasured")
    assert row["library"] == "numpy alone"


def test_an_empty_sheet_gets_its_rows() -> None:
    sheet = artifact("13")
    after = with_costs(sheet.source.encode(), sheet, made_cost()).decode()
    found = read_artifact(after, SHEETS["13"], PATH)

    assert [row["rule"] for row in found.rows("rules")] == ["snapshots"]
    assert found.said("measured") == EVIDENCE
    assert after.partition("\n---\n")[2] == sheet.source.partition("\n---\n")[2]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_endings_and_marks_of_an_editor_stay(mark: bytes) -> None:
    data = mark + OWN.replace("\n", "\r\n").encode()
    after = sheet_of(data)

    assert after == mark + sheet_of(OWN.encode()).replace(b"\n", b"\r\n")


@given(st.lists(st.sampled_from([each.name for each in RULES]), min_size=1, unique=True))
def test_whatever_was_measured_can_be_read_back(names: list[str]) -> None:
    sheet = artifact("13")
    cost = made_cost(*names)
    once = with_costs(sheet.source.encode(), sheet, cost)
    found = read_artifact(decoded(once, PATH), SHEETS["13"], PATH)

    assert [row["rule"] for row in found.rows("rules")] == names
    assert with_costs(once, found, cost) == once


@pytest.mark.heavy
def test_evidence_and_sheet_are_written(tmp_path: Path) -> None:
    write(tmp_path, {"13": {}})
    cost = measure_cost(
        declared(SWARM), rounds=2, rules=chosen_rules(["output captured"]), project=tmp_path
    )

    assert write_evidence(tmp_path, cost) == (EVIDENCE, PATH)
    assert (tmp_path / EVIDENCE).read_bytes() == evidence_bytes(cost)
    assert json.loads((tmp_path / EVIDENCE).read_bytes())["format"] == "twice.cost/1"
    assert write_evidence(tmp_path, cost) == (EVIDENCE,)


def test_without_sheet_13_nothing_is_written(tmp_path: Path) -> None:
    write(tmp_path, {"00": {}})

    with pytest.raises(WorkspaceRefused, match="no sheet 13"):
        write_evidence(tmp_path, made_cost())
    assert not (tmp_path / EVIDENCE).exists()


@pytest.mark.parametrize("old", [None, b"older evidence\n"])
def test_a_sheet_that_cannot_be_written_takes_the_evidence_back(
    tmp_path: Path, old: bytes | None
) -> None:
    write(tmp_path, {"13": {}})
    before = (tmp_path / PATH).read_bytes()
    if old is not None:
        (tmp_path / EVIDENCE).parent.mkdir()
        (tmp_path / EVIDENCE).write_bytes(old)
    # What the sheet would be written to first is there already, and a folder.
    (tmp_path / FOLDER / f".{Path(PATH).name}.{os.getpid()}.new").mkdir()

    with pytest.raises(OutputUnwritable):
        write_evidence(tmp_path, made_cost())
    assert (tmp_path / PATH).read_bytes() == before
    found = (tmp_path / EVIDENCE).read_bytes() if (tmp_path / EVIDENCE).exists() else None
    assert found == old


KILLED = """
import os, sys
from pathlib import Path
from madecosts import made_cost
from twice.specifying.costing.evidence import write_evidence

left = int(sys.argv[2])

def hook(event, args):
    global left
    if event in {"open", "os.rename", "os.mkdir"} and "determinism-and-replay" in str(args[0]):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), 9)

sys.addaudithook(hook)
write_evidence(Path(sys.argv[1]), made_cost())
"""


@pytest.mark.integration
def test_killed_at_any_moment_every_file_is_whole(tmp_path: Path) -> None:
    write(tmp_path, {"13": {}})
    before = (tmp_path / PATH).read_bytes()
    after = with_costs(before, artifact("13"), made_cost())
    ends = []
    for moment in range(40):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(tmp_path), str(moment)],
            env=environ({"PYTHONPATH": os.pathsep.join(sys.path)}),
            check=False,
        )
        ends.append(done.returncode)
        evidence = tmp_path / EVIDENCE
        assert (tmp_path / PATH).read_bytes() in {before, after}
        assert not evidence.exists() or evidence.read_bytes() == evidence_bytes(made_cost())
        if done.returncode == 0:
            break
    assert ends[-1] == 0
    assert set(ends[:-1]) == {-signal.SIGKILL}
    assert len(ends) > 5
