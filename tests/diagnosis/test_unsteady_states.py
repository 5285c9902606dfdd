"""A state that does not stay what it is when it is read is said so, and no line of the run is blamed."""

from __future__ import annotations

import itertools
import textwrap

import pytest

import twice
from twice.diagnosis.attribution import Observations
from twice.diagnosis.diagnose import diagnose
from twice.diagnosis.unsteady_states import find_unsteady
from twice.recorder.cadence import parse_cadence
from twice.recorder.components import component_of
from twice.replayer.branch_session import branch


class Quiet:
    def __init__(self):
        self.x = 1

    def state(self):
        return {"x": self.x}


class Counted(Quiet):
    def __init__(self):
        super().__init__()
        self.reads = 0

    def state(self):
        self.reads += 1
        return {"x": self.x}


class Fickle(Quiet):
    _numbers = itertools.count()

    def state(self):
        return {"x": next(self._numbers)}


def components(**objects):
    return {name: component_of(name, each) for name, each in objects.items()}


def test_only_what_reading_changes_is_named():
    found = find_unsteady(components(quiet=Quiet(), counted=Counted(), fickle=Fickle()))
    assert sorted(found) == ["counted", "fickle"]
    assert (found["counted"]["paths"], found["counted"]["again"]) == (["counted.reads"], False)
    assert found["fickle"]["again"]
    told = dict(zip(found, Observations(unsteady=found).describe_unsteady(), strict=True))
    assert told["counted"].endswith("changes counted.reads")
    assert "gives another value each time" in told["fickle"]


@pytest.mark.heavy
def test_a_run_that_counts_its_reads_is_not_put_down_to_a_line(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            class Counted:
                def __init__(self):
                    self.x = self.reads = 0
                def state(self):
                    self.reads += 1
                    return {"x": self.x}
                def restore(self, state):
                    self.x = state["x"]
            def main(run):
                held = run.track("held", Counted())
                for tick in run.ticks(12):
                    held.x += held.reads
            """
        )
    )
    a, b = tmp_path / "a.twice", tmp_path / "b.twice"
    twice.record(f"{program}:main", seed=7, out=a, cadence=parse_cadence("every=6")).close()
    with branch(a, at=6, out=b):
        found = diagnose(a, b)
    assert (found.result, found.operation) == ("non-reproducing", None)
    assert found.attribution[0].channel.value == "snapshot"
    assert any("changes held.reads" in sentence for sentence in found.evidence)


@pytest.mark.heavy
def test_a_state_that_is_another_each_time_is_not_put_down_to_the_line_that_tracks_it(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            class Fickle:
                def state(self):
                    return {"x": __import__("posix").urandom(8)}
            def main(run):
                run.track("held", Fickle())
                for tick in run.ticks(3):
                    pass
            """
        )
    )
    for side in "ab":
        twice.record(f"{program}:main", seed=7, out=tmp_path / f"{side}.twice").close()
    found = diagnose(tmp_path / "a.twice", tmp_path / "b.twice")
    assert (found.result, found.operation) == ("non-reproducing", None)
    assert any(
        "gives another value each time" in sentence and f"{program}:3" in sentence
        for sentence in found.evidence
    )
