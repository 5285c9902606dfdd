"""One stream, one owner: a generator that two components hold is refused, unless somebody says that it is meant."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from programs import cli, recorded, write
from twice.errors import StreamShared, UsageError
from twice.foundation.seeds import Seed
from twice.recorder.streams import Streams
from twice.recorder.streams.owners import find_owners


class Holder:
    def __init__(self, **held: Any) -> None:
        vars(self).update(held)


class Slotted:
    __slots__ = ("rng",)

    def __init__(self, rng: object) -> None:
        self.rng = rng


class Hostile:
    """Every way of reading it runs code that must not run."""

    def __init__(self, rng: object) -> None:
        self.rng = rng

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"{name} was read")

    def __eq__(self, other: object) -> bool:
        raise AssertionError("it was compared")

    __hash__ = None  # type: ignore[assignment]


GENERATOR = random.Random(1)
BY_ID = {id(GENERATOR): "noise"}


@pytest.mark.parametrize(
    "make",
    [
        lambda: Holder(rng=GENERATOR),
        lambda: Holder(rngs=[None, GENERATOR]),
        lambda: Holder(rngs={"a": GENERATOR}),
        lambda: Slotted(GENERATOR),
        lambda: Hostile(GENERATOR),
        lambda: {"rng": GENERATOR},
        lambda: [GENERATOR],
    ],
)
def test_a_generator_in_two_components_has_two_owners(make: Callable[[], object]) -> None:
    found = find_owners(BY_ID, {"first": Holder(rng=GENERATOR), "second": make()})

    assert found == {"noise": ["first", "second"]}


def test_an_agent_with_a_way_to_its_world_does_not_own_what_the_world_holds() -> None:
    world = Holder(rng=GENERATOR)
    agents = {f"agent {number}": Holder(world=world) for number in range(3)}

    assert find_owners(BY_ID, {"world": world, **agents}) == {"noise": ["world"]}


def test_one_object_under_two_names_is_one_owner() -> None:
    one = Holder(rng=GENERATOR)

    assert find_owners(BY_ID, {"a": one, "b": one}) == {"noise": ["a"]}


def test_a_second_owner_is_refused_unless_it_was_declared() -> None:
    streams = Streams(Seed(1))
    noise = streams.numpy("noise")
    components = {"a": Holder(rng=noise), "b": Holder(rng=noise)}

    with pytest.raises(StreamShared, match="'noise' is held by the components 'a', 'b'"):
        streams.require_one_owner(components)
    streams.share("noise")
    streams.require_one_owner(components)
    assert streams.names() == ["noise"]


def test_a_declaration_that_names_no_stream_is_refused() -> None:
    streams = Streams(Seed(1))
    streams.numpy("noise")

    with pytest.raises(UsageError, match="no stream 'nose'") as refused:
        streams.share("nose")
    error = refused.value
    assert (error.id, error.fields) == ("E-USE-001", {"name": "nose"})
    assert "noise" in error.expected
    assert "Take the stream first" in error.remedy


SHARED = """
class Part:
    def __init__(self, rng):
        self.rng, self.total = rng, 0.0

    def state(self):
        return {"total": self.total}

def main(run):
    noise = run.rng("noise")
    parts = [run.track(name, Part(noise)) for name in ("left", "right")]
    for tick in run.ticks(2):
        for part in parts:
            part.total += noise.normal()
"""


@pytest.mark.integration
def test_a_run_with_a_shared_stream_ends_with_one_error(tmp_path: Path) -> None:
    done = cli("record", write(tmp_path, SHARED), "--seed", 1, "-o", tmp_path / "a.twice")

    assert done.returncode != 0
    assert "E-RNG-002" in done.stderr
    assert "run.streams.share('noise')" in done.stderr


@pytest.mark.integration
def test_a_run_that_declares_it_is_recorded(tmp_path: Path) -> None:
    declared = SHARED.replace("    parts =", '    run.streams.share("noise")\n    parts =')
    with recorded(tmp_path, declared) as record:
        assert record.ticks == 2
