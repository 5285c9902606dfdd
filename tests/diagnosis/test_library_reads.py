"""What a library read from the world on the way to the compare-point speaks for the channel of effects."""

from __future__ import annotations

import textwrap

import pytest

import twice
from twice.diagnosis.diagnose import diagnose

pytestmark = pytest.mark.heavy

pytest.importorskip("gymnasium")


def diagnosed(folder, source):
    program = folder / "program.py"
    program.write_text(textwrap.dedent(source).lstrip())
    for side in "ab":
        twice.record(f"{program}:main", seed=7, out=folder / f"{side}.twice").close()
    return diagnose(folder / "a.twice", folder / "b.twice")


def test_entropy_that_a_library_takes_is_evidence_where_the_line_shows_none(tmp_path):
    found = diagnosed(
        tmp_path,
        """
        import gymnasium
        def main(run):
            held = run.track("held", {"x": 0.0, "n": 0})
            for tick in run.ticks(6):
                held["n"] += 1
                if tick == 4:
                    held["x"] = float(gymnasium.make("CartPole-v1").reset()[0][0])
        """,
    )
    assert (found.result, found.compare_point.tick) == ("localised", 4)
    assert found.attribution[0].channel.value == "effects"
    assert any(
        "entropy.urandom, by a library" in sentence for sentence in found.attribution[0].evidence
    )


def test_a_generator_that_a_library_makes_of_entropy_has_no_seed(tmp_path):
    found = diagnosed(
        tmp_path,
        """
        import gymnasium
        def main(run):
            held = run.track("held", {"x": 0, "n": 0})
            for tick in run.ticks(6):
                held["n"] += 1
                if tick == 4:
                    generator, _ = gymnasium.utils.seeding.np_random()
                    held["x"] = int(generator.integers(1000))
        """,
    )
    assert (found.result, found.operation.line) == ("localised", 7)
    assert found.attribution[0].channel.value == "seeds"
