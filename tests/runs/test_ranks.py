"""Made records of ranks: a difference that is planted at one rank and travels by messages is traced to it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from twice.cli import main
from twice.errors import UsageError
from twice.foundation.encoding import encode
from twice.foundation.seeds import Seed
from twice.recorder.cadence import Cadence
from twice.recorder.effects.sources import LiveSource
from twice.recorder.environment.fingerprint import measure
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.identity import build_identity
from twice.recorder.inputs import Inputs
from twice.recorder.messages import Message, write_message
from twice.recorder.program import Program
from twice.recorder.record import RecordWriter
from twice.recorder.run import Run
from twice.recorder.session import Session
from twice.recorder.session_parts import RecordingSink, Wiring
from twice.recorder.setup import Setup
from twice.runs.ranks import compare_ranks

Step = tuple[int, int, bool]
"""The rank that calls, the rank that is called, and whether the caller waits for the result."""


@cache
def prepare(seed: int) -> tuple[Setup, dict[str, Any]]:
    """Return what all ranks of a run share: looking for a commit takes two processes."""
    program = Program("inline", "inline code")
    setup = Setup(program, Seed(seed), granularity="episode", cadence=Cadence("none"))
    return setup, build_identity(setup, Surroundings({}), measure(), parent=None)


class MadeRank:
    """A rank whose state is one number, which every message changes; it writes what a rank of Ray's does."""

    def __init__(self, folder: Path, name: str, seed: int = 1) -> None:
        setup, identity = prepare(seed)
        self.writer = RecordWriter.create(folder / f"{name}.twice", identity)
        sink = RecordingSink(self.writer, setup.strategy)
        self.session = Session(setup, Wiring(LiveSource(), Inputs(), sink, writes=True))
        self.name, self.state, self.sent = name, 0, 0
        self.run = Run(self.session)
        self.ticks = self.run.ticks()
        next(self.ticks)

    def send(self, other: MadeRank, value: object, *, takes: str = "", gives: str = "") -> int:
        message = Message(
            "sent",
            other.name,
            self.sent,
            "step",
            str(value),
            (takes,) * bool(takes),
            (gives,) * bool(gives),
        )
        write_message(self.run, message, ["(reference)"] if takes else [value])
        self.sent += 1
        return self.sent - 1

    def receive(self, sender: MadeRank, number: int, value: int, plus: int = 0) -> int:
        next(self.ticks)
        message = Message("received", sender.name, number, "step", str(value))
        write_message(self.run, message, [sender.name, number, value])
        self.state = (31 * self.state + value + plus) % 1_000_003
        parts = {"state": (encode(self.state)[:16], str(self.state))}
        write_message(self.run, Message("state", parts=parts), self.state)
        write_message(
            self.run, Message("result", sender.name, number, "step", str(self.state)), self.state
        )
        return self.state

    def get(self, reference: str, value: int) -> None:
        write_message(self.run, Message("got", text=str(value), takes=(reference,)), value)
        self.state = (17 * self.state + value) % 1_000_003

    def close(self, *, whole: bool = True) -> None:
        if whole:
            self.session.end()
            self.writer.close({"how": "completed"})
        else:
            self.writer.flush()
            self.writer.abandon()


def make_run(
    folder: Path,
    count: int,
    steps: list[Step],
    plant: int | None = None,
    torn: tuple[str, ...] = (),
) -> None:
    """Write one run of ``count`` ranks; at the step ``plant`` the rank that is called goes another way."""
    folder.mkdir(parents=True)
    ranks = [MadeRank(folder, f"r{at}") for at in range(count)]
    for at, (caller, called, waits) in enumerate(steps):
        one, two = ranks[caller], ranks[called]
        reference = f"{folder.name}-{at}"  # another one in each run, as Ray's are
        number = one.send(two, one.state, gives=reference)
        result = two.receive(one, number, one.state, 1 if at == plant else 0)
        if waits:
            one.get(reference, result)
    for rank in ranks:
        rank.close(whole=rank.name not in torn)


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@st.composite
def programs(draw: st.DrawFn) -> tuple[int, list[Step]]:
    count = draw(st.integers(2, 4))
    pair = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1), st.booleans())
    steps = draw(st.lists(pair.filter(lambda step: step[0] != step[1]), min_size=1, max_size=12))
    return count, steps


@given(program=programs(), data=st.data())
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_planted_difference_is_traced_to_its_rank_and_tick(
    program: tuple[int, list[Step]], data: st.DataObject
) -> None:
    count, steps = program
    plant = data.draw(st.integers(0, len(steps) - 1))
    called = steps[plant][1]
    tick = 1 + sum(step[1] == called for step in steps[:plant])
    with tempfile.TemporaryDirectory() as name:
        make_run(Path(name, "a"), count, steps)
        make_run(Path(name, "b"), count, steps, plant)

        found = compare_ranks(Path(name, "a"), Path(name, "b"))

    assert [(each.rank, each.tick, each.what) for each in found.origins] == [
        (f"r{called}", tick, "state")
    ]
    assert found.result == "parted"
    assert f"r{called}" in found.differing
    assert found.reasons == []


def test_equal_runs_are_the_same(folder: Path) -> None:
    for side in "ab":
        make_run(folder / side, 3, [(0, 1, True), (1, 2, False), (0, 2, True)])

    found = compare_ranks(folder / "a", folder / "b")

    assert (found.result, found.exit_code, found.to_lines()) == (
        "same",
        0,
        ["same: 3 ranks agree at every compare-point"],
    )


def without_origin(folder: Path) -> None:
    (folder / "b" / "r1.twice").unlink()


def with_a_third_seed(folder: Path) -> None:
    MadeRank(folder / "b", "extra").close()
    MadeRank(folder / "a", "extra", seed=2).close()


@pytest.mark.parametrize(
    ("torn", "plant", "spoil", "reason"),
    [
        ((), 0, without_origin, "r1.twice is missing"),
        (("r1",), None, None, "r1.twice: torn"),
        ((), None, with_a_third_seed, "another input: seed is 2 and 1"),
        ((), None, without_origin, "a alone holds r1"),
    ],
)
def test_what_cannot_be_told_is_unknown_with_the_reason(
    folder: Path,
    torn: tuple[str, ...],
    plant: int | None,
    spoil: Callable[[Path], None] | None,
    reason: str,
) -> None:
    steps = [(0, 1, True), (0, 2, True)]
    make_run(folder / "a", 3, steps)
    make_run(folder / "b", 3, steps, plant, torn)
    if spoil is not None:
        spoil(folder)

    found = compare_ranks(folder / "a", folder / "b")

    assert (found.result, found.exit_code, found.origins) == ("unknown", 2, [])
    assert reason in " ".join(found.reasons)


def test_a_rank_that_died_is_no_origin(folder: Path) -> None:
    for side, died in (("a", False), ("b", True)):
        (folder / side).mkdir()
        one, two = MadeRank(folder / side, "one"), MadeRank(folder / side, "two")
        one.send(two, 5, gives="x")
        if died:
            one.get("x", -1)  # the error that Ray gives for it
        else:
            one.get("x", two.receive(one, 0, 5))
        one.close()
        two.close(whole=not died)

    found = compare_ranks(folder / "a", folder / "b")

    assert (found.result, found.origins) == ("unknown", [])
    assert "torn" in " ".join(found.reasons)


def test_a_rank_that_took_what_is_not_compared_is_no_origin(folder: Path) -> None:
    for side in (0, 1):
        (folder / str(side)).mkdir()
        rank = MadeRank(folder / str(side), "rank")
        message = Message("received", "driver", 0, "fit", refused=("fit, value 0 (Model)",))
        write_message(rank.run, message, [b""])
        write_message(rank.run, Message("result"), side)
        rank.close()

    found = compare_ranks(folder / "0", folder / "1")

    assert (found.result, found.origins) == ("unknown", [])
    assert "not compared: fit, value 0 (Model)" in found.reasons[0]


def test_another_order_of_messages_is_said_as_that(folder: Path) -> None:
    for side, order in (("a", (0, 1)), ("b", (1, 0))):
        (folder / side).mkdir()
        queue = MadeRank(folder / side, "queue")
        senders = [MadeRank(folder / side, f"sender{at}") for at in range(2)]
        for sender in senders:
            sender.send(queue, 3)
        for at in order:
            queue.receive(senders[at], 0, 3)
        for rank in (queue, *senders):
            rank.close()

    found = compare_ranks(folder / "a", folder / "b")

    assert (found.result, found.exit_code) == ("order-of-messages", 1)
    (origin,) = found.origins
    assert (origin.rank, origin.tick, origin.a, origin.b) == (
        "queue",
        1,
        "message 0 of sender0: step(3) from sender0",
        "message 0 of sender1: step(3) from sender1",
    )
    assert origin.to_json()["channel"] == "concurrency"


def test_the_result_of_another_message_handed_on_is_the_senders_own(folder: Path) -> None:
    for side, handed in (("a", "x"), ("b", "y")):
        (folder / side).mkdir()
        one, two = MadeRank(folder / side, "one"), MadeRank(folder / side, "two")
        results = {}
        for at, reference in enumerate("xy"):
            results[reference] = two.receive(one, one.send(two, at, gives=reference), at)
        three = MadeRank(folder / side, "three")
        three.receive(one, one.send(three, 0, takes=handed), results[handed])
        for rank in (one, two, three):
            rank.close()

    (origin,) = compare_ranks(folder / "a", folder / "b").origins

    assert (origin.rank, origin.what, origin.path) == ("one", "sent", ("one", "three"))
    assert (origin.a, origin.b) == (
        "the results of message 0 of one",
        "the results of message 1 of one",
    )


def test_the_command_names_the_rank_and_the_next_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(folder / "a", 2, [(0, 1, True), (0, 1, True)])
    make_run(folder / "b", 2, [(0, 1, True), (0, 1, True)], plant=1)
    given = ["diagnose", str(folder / "a"), str(folder / "b")]

    with pytest.raises(SystemExit) as ended:
        main(given)
    said = capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([*given, "--json"])
    found = json.loads(capsys.readouterr().out)

    assert ended.value.code == 1
    assert said.splitlines()[0] == "parted: the difference begins in r1 at tick 2: state"
    assert f"next: twice diagnose {folder}/a/r1.twice {folder}/b/r1.twice --no-lines" in said
    assert found["format"] == "twice.ranks/1"
    assert found["origins"][0]["path"] == ["r1", "r0"]


def test_a_folder_without_records_is_refused(folder: Path) -> None:
    (folder / "a").mkdir()

    with pytest.raises(UsageError, match="holds no records"):
        compare_ranks(folder / "a", folder / "a")
