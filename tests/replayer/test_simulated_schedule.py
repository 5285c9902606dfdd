"""A verdict on a simulated run names the steps of its loop where they are compared, and where they differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from programs import call, recorded, verified, write
from twice.foundation.determinism_class import DeterminismClass, Predicate
from twice.recorder.components import STEPS
from twice.replayer.verify import verify
from twice.simulation.order import Order

pytestmark = pytest.mark.integration

LOGICAL = Predicate(DeterminismClass.LOGICAL)
WAITS = """
import asyncio

async def main():
    async def wait():
        await asyncio.sleep(1)

    await asyncio.gather(wait(), wait())
"""


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"order": Order()}, f", output, and {STEPS}, compare"),
        ({"order": Order(), "predicate": LOGICAL}, " and output compare"),
        ({}, " and output compare"),
    ],
)
def test_what_a_run_without_components_compares_has_its_steps_where_they_are_judged(
    options: dict[str, Any], told: str, tmp_path: Path
):
    source = WAITS if "order" in options else "def main(run):\n    pass\n"

    (line,) = (
        each
        for each in verified(tmp_path, source, **options).caveats
        if "no component is tracked" in each
    )

    assert line == f"no component is tracked: only streams, inputs, effects{told}"


def test_steps_that_differ_are_said_in_words(tmp_path: Path):
    with recorded(tmp_path, WAITS, order=Order()) as record:
        path = record.path
    write(tmp_path, WAITS.replace("sleep(1)\n", "sleep(1)\n        await asyncio.sleep(1)\n"))

    statement = verify(path, informational=True)

    assert statement.failure is not None
    assert statement.failure.columns == ("schedule",)
    assert f"start: schedule ({STEPS})" in statement.to_text()
    assert f"recorded: `{STEPS}, as recorded`" in statement.to_text()
    several = call("verify", path, path, "--informational", cwd=tmp_path)
    assert f"schedule ({STEPS})" in several.stdout
    shown = call("show", path, "--tick", "-1", cwd=tmp_path)
    assert f"schedule ({STEPS})" in shown.stdout


def test_a_component_of_that_name_is_a_component(tmp_path: Path):
    source = """
        def main(run):
            seen = run.track("schedule", [])
            for tick in run.ticks(2):
                seen.append({value})
    """
    with recorded(tmp_path, source.format(value="tick")) as record:
        path = record.path
    write(tmp_path, source.format(value="-tick - 1"))

    statement = verify(path, informational=True)

    assert statement.failure is not None
    assert statement.failure.columns == ("schedule",)
    assert STEPS not in statement.to_text()


@pytest.mark.parametrize("order", [Order(), None])
def test_garbage_is_not_collected_within_a_simulated_run(order: Order | None, tmp_path: Path):
    source = "import gc\n\ndef main(run):\n    print(gc.isenabled())\n"

    with recorded(tmp_path, source, order=order) as record:
        assert record.printed()[0] == f"{order is None}\n".encode()
