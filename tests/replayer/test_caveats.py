"""A verdict says what it could not have noticed: nothing ticked, nothing changed, nothing decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import recorded, verified
from twice.foundation.determinism_class import Predicate
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

STILL = """
    class Blind:
        def __init__(self):
            self.x = 0

        def state(self):
            return {"x": 1}

        def restore(self, state):
            pass

    def main(run):
        blind, seen = run.track("blind", Blind()), run.track("seen", [])
        kept = run.track("kept", {"x": 0})
        for tick in run.ticks(4):
            blind.x += 1
            kept = {"x": tick}
            seen.append(tick)
"""


def test_components_whose_state_never_changed_are_named(tmp_path: Path) -> None:
    statement = verified(tmp_path, STILL)
    assert statement.result == "PASS"
    (line,) = (each for each in statement.headline if "never changed" in each)
    assert "blind, kept never changed" in line


@pytest.mark.heavy
def test_a_component_that_first_changes_late_is_not_called_unchanging(tmp_path: Path) -> None:
    # More compare-points than a look at the beginning of a record would see.
    source = """
        def main(run):
            warm, still = run.track("warm", [0]), run.track("still", [0])
            for tick in run.ticks(66_000):
                if tick == 65_900:
                    warm[0] = 1
    """
    (line,) = (each for each in verified(tmp_path, source).headline if "never changed" in each)
    assert line.startswith("still never changed")


def test_a_run_without_ticks_says_so(tmp_path: Path) -> None:
    statement = verified(tmp_path, "def main(run):\n    run.track('seen', []).append(1)\n")
    assert statement.result == "PASS"
    assert any("no tick was run" in caveat for caveat in statement.caveats)


@pytest.mark.parametrize(
    ("decides", "said"),
    [("pass", True), ("print(1)", False), ("run.input('a', int)", False),
     ("run.compare('a', tick)", False)],
)  # fmt: skip
def test_a_logical_verdict_over_nothing_says_so(tmp_path: Path, decides: str, said: bool) -> None:
    source = f"""
        def main(run):
            seen = run.track("seen", [])
            for tick in run.ticks(3):
                seen.append(tick)
                {decides}
    """
    with recorded(tmp_path, source) as record:
        assert verify(record.path).caveats == []
        logical = verify(record.path, predicate=Predicate.parse(["logical"]))
    assert logical.result == "PASS"
    assert any("no state was judged" in caveat for caveat in logical.caveats) is said
