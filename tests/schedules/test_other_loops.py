"""trio and uvloop are refused by their names, whatever way a program takes into their loops.

The stand-ins have of each library what the refusal hangs on, and nothing more. The same programs with the libraries
themselves run where those are installed.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import twice
from programs import call, write
from tiers import sampled
from twice.errors import SimulationRefused

STAND_INS = {
    "trio/__init__.py": "from trio._core._run import run\nfrom trio._core._traps import sleep\n",
    "trio/_core/__init__.py": "",
    "trio/_core/_run.py": """
import threading

class RunContext(threading.local):
    pass

GLOBAL_RUN_CONTEXT = RunContext()

def in_trio_run():
    return hasattr(GLOBAL_RUN_CONTEXT, "runner")

def run(main, *arguments):
    if in_trio_run():
        raise RuntimeError("Attempted to call run() from inside a run()")
    GLOBAL_RUN_CONTEXT.runner = 0.0
    try:
        try:
            main(*arguments).send(None)
        except StopIteration as done:
            return done.value
    finally:
        del GLOBAL_RUN_CONTEXT.runner
""",
    "trio/_core/_traps.py": """
async def _async_yield(message):
    return message

async def sleep(seconds):
    return await _async_yield(seconds)
""",
    "uvloop/__init__.py": """
import asyncio

class Loop(asyncio.AbstractEventLoop):
    def run_until_complete(self, main):
        return "real time"

    def close(self):
        pass

def new_event_loop():
    return Loop()

def run(main):
    main.close()
    return new_event_loop().run_until_complete(main)
""",
}
PROGRAMS = {
    "trio.run": "import trio\nasync def main():\n    trio.run(trio.sleep, 0)\n",
    "trio.sleep": "import trio\nasync def main():\n    await trio.sleep(0)\n",
    "uvloop.new_event_loop": "import uvloop\nasync def main():\n    uvloop.new_event_loop()\n",
}
SCRIPT = "import asyncio, uvloop\nuvloop.run(asyncio.sleep(0))\n"


@pytest.fixture(params=["stand-in", "library"])
def libraries(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Let programs import trio and uvloop: those that are installed, or what stands in for them."""
    if request.param == "library":
        pytest.importorskip("trio")
        pytest.importorskip("uvloop")
        yield
        return
    for name, text in STAND_INS.items():
        path = tmp_path / "libraries" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path / "libraries")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "libraries"), prepend=":")
    loaded = _forget()
    yield
    _forget()
    sys.modules.update(loaded)


def _forget() -> dict[str, ModuleType]:
    """Forget what is loaded of both libraries, and return it."""
    names = [each for each in sys.modules if each.partition(".")[0] in {"trio", "uvloop"}]
    return {name: sys.modules.pop(name) for name in names}


def _load(name: str) -> ModuleType:
    module = ModuleType("program")
    exec(PROGRAMS[name], module.__dict__)
    return module


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.usefixtures("libraries")
def test_simulate_refuses_it_by_its_name(name: str):
    library = name.partition(".")[0]

    async def load_and_run() -> None:
        await _load(name).main()

    for main in (load_and_run, _load(name).main):
        with pytest.raises(SimulationRefused) as caught:
            twice.simulate(main, seed=1)

        assert caught.value.happened.startswith(f"{library} was called in a simulated run, at ")
        assert caught.value.fields["function"] == library
        assert "--loop own" in caught.value.remedy


@pytest.mark.usefixtures("libraries")
def test_a_question_whose_loop_this_is_has_an_answer():
    trio = importlib.import_module("trio._core._run")

    async def ask() -> object:
        return trio.in_trio_run()

    assert twice.simulate(ask, seed=1) is False


@pytest.mark.usefixtures("libraries")
def test_after_a_simulation_both_run_again():
    async def nothing() -> None:
        pass

    trio, uvloop = map(importlib.import_module, ("trio", "uvloop"))
    before = [set(vars(each)) for each in (uvloop.Loop, type(trio._core._run.GLOBAL_RUN_CONTEXT))]
    twice.simulate(nothing, seed=1)
    after = [set(vars(each)) for each in (uvloop.Loop, type(trio._core._run.GLOBAL_RUN_CONTEXT))]

    assert trio.run(nothing) is None
    assert after == before
    uvloop.new_event_loop().close()


@pytest.mark.integration  # the commands, because what they say and their exit codes are promised
@pytest.mark.parametrize(
    "words", [("record", "--loop", "simulated"), ("explore", "--schedules", 5)]
)
@pytest.mark.parametrize(
    "name", sampled(["trio.sleep", "trio.run", "uvloop.run"], {"trio.run", "uvloop.run"})
)
@pytest.mark.usefixtures("libraries")
@pytest.mark.sample(2)
def test_a_command_refuses_it_by_its_name(name: str, words: tuple[object, ...], tmp_path: Path):
    program = write(tmp_path, PROGRAMS[name] if name in PROGRAMS else SCRIPT)
    program = program if name in PROGRAMS else program.partition(":")[0]

    done = call(*words, program, "--seed", 1, "-o", tmp_path / "out", cwd=tmp_path)

    assert done.returncode == 2
    library = name.partition(".")[0]
    assert f"E-SCHEDULE-001  {library} was called in a simulated run, at " in done.stderr
