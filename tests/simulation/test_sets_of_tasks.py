"""Sets of tasks have one order, whatever the addresses are; without numbers of their own they would not."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
import set_programs
from simulations import Main, run_fast

from twice.simulation.identity import SimulatedFuture, SimulatedTask

RUNS = 20


def look(program: Main) -> set[str]:
    """Run a program several times, with junk of different sizes on the heap; return what it gave."""
    junk, found = [], set()
    for n in range(RUNS):
        found.add(run_fast(program))
        junk.append(([object() for _ in range(37 * n)], bytearray(500 + n)))
    return found


@pytest.mark.parametrize("program", set_programs.PROGRAMS)
def test_one_order_in_one_process(program: Main):
    assert len(look(program)) == 1


def test_hashes_by_address_would_give_several(monkeypatch: pytest.MonkeyPatch):
    for kind in (SimulatedTask, SimulatedFuture):
        monkeypatch.setattr(kind, "__hash__", object.__hash__)

    several = [program.__name__ for program in set_programs.PROGRAMS if len(look(program)) > 1]

    assert {"first_of_wait", "aborted_group"} <= set(several)


def test_futures_of_gather_and_generators_have_one_order_too():
    async def main() -> str:
        told: list[str] = []

        async def generate(name: str):
            try:
                yield name
                yield name
            finally:
                told.append(name)

        held = [generate(name) for name in "abcdefgh"]
        for each in held:
            await anext(each)
        groups = {asyncio.gather(asyncio.sleep(0, name)): name for name in "abcdefgh"}
        done, _ = await asyncio.wait(set(groups))
        told += [groups[each] for each in done]
        await asyncio.get_running_loop().shutdown_asyncgens()
        return "".join(told)

    assert len(look(main)) == 1


@pytest.mark.integration
@pytest.mark.heavy
def test_one_order_in_twenty_processes():
    # Processes, because addresses and hashes of text differ from one to the next.
    command = [sys.executable, "-P", str(Path(set_programs.__file__))]

    outputs = {
        subprocess.run([*command, str(n)], check=True, capture_output=True, text=True).stdout
        for n in range(RUNS)
    }

    assert len(outputs) == 1
