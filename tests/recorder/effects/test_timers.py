"""Programs of timers, sleeps and deadlines end as they did: an order that time gave is the recorded one.

Each of ``timer_programs`` is a script whose output shows the order in which its timers fired.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import cli
from tiers import sampled
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

PROGRAMS = sorted((Path(__file__).parent / "timer_programs").glob("*.py"))
SAMPLE = {
    "call_later_orders",
    "loop_time_beside_threads",
    "loopback_streams",
    "queue_workers",
    "threading_timers",
    "trio_time_beside_threads",
}


@pytest.mark.parametrize("program", sampled(PROGRAMS, SAMPLE, name=lambda path: path.stem))
@pytest.mark.sample(3)
def test_timers_fire_in_the_recorded_order(program: Path, tmp_path: Path) -> None:
    (tmp_path / program.name).write_bytes(program.read_bytes())
    done = cli("record", program.name, "--seed", 1, "-o", "a.twice", cwd=tmp_path)
    assert done.returncode == 0, done.stderr

    statement = verify(tmp_path / "a.twice")

    assert statement.result == "PASS", statement.to_markdown()
