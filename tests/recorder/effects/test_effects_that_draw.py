"""A declared effect may draw from the generators of the run; a replay, which does not call it, goes on behind its draws."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import verified

pytestmark = pytest.mark.integration

SOURCE = """
import random
import numpy
import twice

def main(run):
    noise, seen = run.rng("noise"), run.track("seen", [])

    @twice.effect
    def jitter(tick):
        DRAW
        if tick == 2:
            raise OSError("as it happens")
        return tick

    for tick in run.ticks(4):
        try:
            jitter(tick)
        except OSError as error:
            seen.append(str(error))
        seen.append([random.random(), float(numpy.random.rand()), float(noise.normal())])
"""


@pytest.mark.parametrize(
    "draw",
    ["random.gauss(0, 1)", "numpy.random.rand(3)", "noise.normal()", "random.seed(5)", "pass"],
)
def test_a_replay_goes_on_behind_the_draws_of_an_effect(tmp_path: Path, draw: str) -> None:
    found = verified(tmp_path, SOURCE.replace("DRAW", draw))

    assert found.result == "PASS", found.to_markdown()
