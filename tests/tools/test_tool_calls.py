"""Every outcome is one envelope, and a call that fails leaves the state as it was."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from table_tools import Tables
from table_tools import registry as tables

from twice.foundation.comparison import Abs
from twice.tools import (
    CallRefused,
    Context,
    Needs,
    Registry,
    Session,
    Tool,
    deadlines,
    negotiate,
    tool,
)
from twice.tools.call import PHASES, Note
from twice.tools.deadlines import Deadline, OutOfTime, now_s
from twice.tools.envelope import CODES


def leave(ctx: Context) -> None:
    """Change something that is to be undone, if it is not there yet."""
    if not ctx.backend.holds("left behind"):
        ctx.call("table.create", name="left behind", columns=["x"])


def throw(error: BaseException) -> Any:
    raise error


def declare(function: Callable[..., Any], name: str = "", **more: Any) -> Tool:
    given = {"determinism": "deterministic", **more}
    return tool(f"work.{name or function.__name__}", **given)(function)


def wrap(act: Callable[[Context], Any]) -> Callable[..., Any]:
    """Change something before a tool does what it does."""

    def body(ctx: Context) -> Any:
        leave(ctx)
        return act(ctx)

    return body


def ok(value: float = -0.0) -> float:
    return value


def spins(ctx: Context) -> int:
    leave(ctx)
    while True:
        pass


def slow(ctx: Context) -> int:
    while True:
        ctx.progress(0.5)


def lies(ctx: Context) -> int:
    leave(ctx)
    return "three"  # type: ignore[return-value]


def holds(ctx: Context) -> str:
    try:
        ctx.call("work.fails")
    except CallRefused as refused:
        return refused.code
    return ""


def steps(ctx: Context) -> int:
    for at in range(4):
        ctx.call("table.create", name=f"t{at}", columns=["x"])
        ctx.progress(at / 4, f"part {at}")
    return 4


def named(ctx: Context, width: float) -> str:
    name = ctx.name("box")
    ctx.call("table.create", name=name, columns=["width"], rows=[[width]])
    return name


def sorts(ctx: Context, entities: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return ctx.sorted(entities)


WHAT = "the /secret/path of this\nTraceback (most recent call last)"
ACTS: dict[str, Callable[[Context], Any]] = {
    "fails": lambda _: throw(ValueError(WHAT)),
    "cancels": lambda _: throw(asyncio.CancelledError()),
    "nan": lambda _: {"deep": [float("nan")]},
    "circle": lambda ctx: ctx.call("work.circle"),
    "time": lambda ctx: ctx.time.isoformat(),
    "around": lambda ctx: ctx.call("work.near"),
    "further": lambda ctx: ctx.call("work.around"),
}
WORK = [
    *map(declare, (ok, slow, lies, holds, steps, named, sorts)),
    *(declare(wrap(act), name) for name, act in ACTS.items()),
    declare(lambda: throw(SystemExit(3)), "exits"),
    declare(lambda: 1.0, "near", tolerance=Abs(0.5)),
    declare(spins, seconds=0.05),
    declare(wrap(lambda _: None), "reads", reads_only=True),
]
REGISTRY = Registry([*WORK, *tables], backend=Tables)


class Noting:
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[tuple[str, tuple[str, ...]]] = []
        self.notes: list[Note] = []

    def on_begin(self, note: Note) -> None:
        self.events.append(("began", note.path))

    def on_end(self, note: Note) -> None:
        self.events.append(("ended", note.path))
        self.notes.append(note)


class Fixed(Tables):
    """A backend that cannot go back."""

    checkpoint = None  # type: ignore[assignment]
    rollback = None  # type: ignore[assignment]


class Stuck(Tables):
    """A backend that does not go back."""

    def rollback(self, checkpoint: Any) -> None:
        raise OSError(f"no way back to {checkpoint}")


def session(**offer: Any) -> Session:
    backend = Tables()
    return Session(REGISTRY, backend, negotiate(offer, REGISTRY, backend))


def code(envelope: Mapping[str, Any]) -> str:
    return "ok" if envelope["ok"] else envelope["error"]["code"]


def answer(value: object, kind: Any = Any) -> dict[str, Any]:
    """Call a tool that gives a value, or raises it."""

    def give() -> Any:
        return throw(value) if isinstance(value, Exception) else value

    give.__annotations__["return"] = kind
    return Session(Registry([declare(give)])).call("work.give")


def test_a_success_carries_result_class_and_fingerprint() -> None:
    found = session().call("work.ok", {"value": 2.5})

    assert found.pop("fingerprint").startswith("sha256:")
    assert found.pop("state_fingerprint") == Tables().fingerprint()
    assert found == {
        "ok": True,
        "result": 2.5,
        "determinism": {
            "class": "deterministic", "seed": None, "seed_source": None, "call_key": None, "tolerance": None,
        },
    }  # fmt: skip
    assert str(session().call("work.ok")["result"]) == "0.0"


def test_what_may_write_carries_the_fingerprint_of_the_state_that_it_left() -> None:
    one = session()
    wrote = one.call("table.create", {"name": "t", "columns": ["x"]})

    assert wrote["state_fingerprint"] == one.backend.fingerprint()
    assert "state_fingerprint" not in one.call("table.list")


class Crate(BaseModel):
    things: list  # type: ignore[type-arg]
    extra: object = None


@dataclasses.dataclass
class Bag:
    things: dict[str, Any]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (dict, {"a": {1, 2}}),
        (list, [[frozenset("ab")]]),
        (object, {"a": {1, 2}}),
        (Any, ({1},)),
        (Crate, Crate(things=[{1, 2}])),
        (Crate, Crate(things=[], extra={"deep": {1}})),
        (Bag, Bag({"a": {1, 2}})),
        (dict[str, Any], {"a": Crate(things=[{1, 2}])}),
        (dict[str, Any], {"a": Bag({"b": {1}})}),
        (dict, {"a": (each for each in (1, 2))}),
        (list[Any], [map(str, {1, 2})]),
    ],
)
def test_a_set_is_no_result_whatever_type_it_travels_through(kind: Any, value: Any) -> None:
    found = answer(value, kind)

    words = ("which has no order", "whose order nobody can see", "which is no JSON type")
    assert code(found) == "execution_failed"
    assert any(each in found["error"]["message"] for each in words)


@pytest.mark.parametrize("name", ["work.near", "work.around", "work.further"])
def test_a_result_within_a_tolerance_claims_no_equality(name: str) -> None:
    found = session().call(name)

    assert (found["ok"], found["fingerprint"]) == (True, None)
    assert name != "work.near" or found["determinism"]["tolerance"] == Abs(0.5).to_json()


@pytest.mark.parametrize(
    ("name", "expected", "words"),
    [
        ("work.fails", "execution_failed", "ValueError: the path of this"),
        ("work.exits", "execution_failed", "SystemExit"),
        ("work.cancels", "execution_failed", "CancelledError"),
        ("work.lies", "execution_failed", "gave back what it does not declare"),
        ("work.nan", "execution_failed", "deep[0] is nan"),
        ("work.reads", "execution_failed", "table.create, which may write"),
        ("work.spins", "timeout", "within 0.05 s, as it declares"),
        ("work.slow", "timeout", "within 0.2 s, as the contract says"),
        ("work.circle", "execution_failed", "called inside of itself"),
        ("work.none", "not_found", "no tool 'work.none'"),
    ],
)
def test_a_failure_has_a_code_and_leaves_the_state_as_it_was(
    name: str, expected: str, words: str
) -> None:
    one = session(limits={"seconds": 0.2})
    one.call("table.create", {"name": "before", "columns": ["x"]})
    before = one.backend.fingerprint()
    found = one.call(name)

    assert code(found) == expected, found
    assert words in found["error"]["message"]
    assert set(found["error"]) == {"code", "message", "details"}
    assert one.backend.fingerprint() == before
    assert one.call("table.list")["result"][0]["name"] == "before"


@pytest.mark.parametrize(
    ("value", "kind", "told"),
    [
        (OSError("[Errno 2] No file: '/home/mia/scene.blend'"), Any, "No file: 'scene.blend'"),
        (OSError("cannot read C:\\Users\\mia\\scene.blend"), Any, "cannot read scene.blend"),
        (OSError("see http://e.org/home/b and a/b"), Any, "see http://e.org/home/b and a/b"),
        (OSError("path:/srv/x/y.txt:3"), Any, "path:y.txt:3"),
        (Path("/home/mia/scene.blend"), str, "scene.blend"),
    ],
)
def test_no_folder_of_this_machine_goes_outward(value: Any, kind: Any, told: str) -> None:
    message = answer(value, kind)["error"]["message"]

    assert told in message
    assert "mia" not in message


def test_no_stack_trace_goes_outward_and_the_whole_one_is_kept() -> None:
    observer = Noting()
    said = json.dumps(Session(REGISTRY, Tables(), observer=observer).call("work.fails"))

    assert "Traceback" not in said
    assert "ValueError" in observer.notes[-1].trace
    assert __file__ in observer.notes[-1].trace


def test_a_part_that_fails_is_undone_even_where_the_whole_goes_on() -> None:
    one = session()

    assert one.call("work.holds")["result"] == "execution_failed"
    assert one.call("table.list")["result"] == []


@pytest.mark.parametrize(
    ("backend", "name", "expected"),
    [
        (Fixed, "work.fails", ("execution_failed", True)),
        (Fixed, "work.exits", ("execution_failed", False)),
        (Stuck, "work.fails", ("internal_error", True)),
    ],
)
def test_effects_that_remain_are_told_of(
    backend: type[Tables], name: str, expected: tuple[str, bool]
) -> None:
    error = Session(REGISTRY, backend()).call(name)["error"]

    assert (error["code"], error["details"]["partial_effects"]) == expected


def test_off_the_main_thread_a_limit_is_told_at_the_next_use_of_the_context() -> None:
    found: list[dict[str, Any]] = []
    one = session(limits={"seconds": 0.05})
    thread = threading.Thread(target=lambda: found.append(one.call("work.slow")))
    thread.start()
    thread.join(20)

    assert code(found[0]) == "timeout"
    assert found[0]["error"]["details"]["limit_s"] == 0.05


def test_the_runtime_is_not_interrupted_but_what_it_comes_back_to() -> None:
    source = "def spin(now_s, end_s):\n    while now_s() < end_s:\n        pass\n"
    names: dict[str, Any] = {}
    exec(compile(source, deadlines.__file__, "exec"), names)
    reached = []

    def run() -> None:
        with Deadline(0.001).interrupt():
            names["spin"](now_s, now_s() + 0.02)
            reached.append(True)
            while True:
                pass

    with pytest.raises(OutOfTime):
        run()
    assert reached == [True]


def test_the_phases_are_in_order_and_end_where_it_failed() -> None:
    observer = Noting()
    one = Session(REGISTRY, Tables(), observer=observer)
    one.call("work.ok")
    one.call("work.ok", {"value": "x"})
    one.call("work.lies")

    assert observer.notes[0].phases == list(PHASES)
    assert observer.notes[1].phases == ["validate"]
    assert observer.notes[-1].phases == list(PHASES[:5])


def test_an_observer_sees_parts_inside_of_wholes() -> None:
    observer = Noting()
    Session(REGISTRY, Tables(), observer=observer).call("work.holds")

    paths: list[tuple[str, ...]] = [(), ("work.fails",), ("work.fails", "table.create")]
    assert observer.events == [
        *(("began", each) for each in paths),
        *(("ended", each) for each in reversed(paths)),
    ]


def test_progress_is_told_and_a_cancelled_call_is_undone() -> None:
    told: list[tuple[float, str]] = []

    def progress(fraction: float, text: str) -> bool:
        told.append((fraction, text))
        return len(told) == 2

    one = session()
    found = one.call("work.steps", progress=progress)

    assert told == [(0.0, "part 0"), (0.25, "part 1")]
    assert found["error"]["details"]["cancelled"] is True
    assert one.call("table.list")["result"] == []


def test_a_host_that_raises_in_its_progress_or_calls_again_gets_an_envelope() -> None:
    one, seen = session(), []

    assert code(one.call("work.steps", progress=lambda *_: 1 / 0)) == "execution_failed"  # type: ignore[arg-type]
    one.call("work.steps", progress=lambda *_: seen.append(code(one.call("work.ok"))))
    assert seen == ["contract_violation"] * 4


def test_a_name_follows_from_the_parameters_and_a_taken_one_is_a_conflict() -> None:
    one = session()
    first, again, other = (one.call("work.named", {"width": w}) for w in (1.5, 1.5, 1.25))

    assert first["result"] == session().call("work.named", {"width": 1.5})["result"]
    assert len(first["result"]) == len("box_") + 12
    assert code(again) == "conflict"
    assert other["result"] != first["result"]


def test_entities_are_sorted_by_type_name_and_id_in_code_point_order() -> None:
    ordered = [
        {"type": "CAMERA", "name": "z"},
        {"type": "CAMERA", "name": "é"},
        {"type": "MESH", "name": "Z"},
        {"type": "MESH", "name": "a", "id": "1"},
        {"type": "MESH", "name": "a", "id": "2"},
    ]

    assert session().call("work.sorts", {"entities": ordered[::-1]})["result"] == ordered
    twins = {"entities": [{"name": "a"}, {"name": "a"}]}
    assert code(session().call("work.sorts", twins)) == "execution_failed"


def test_tools_see_contract_time_alone() -> None:
    one = session(time="2026-01-31T12:00:00Z")

    assert one.call("work.time")["result"] == "2026-01-31T12:00:00+00:00"
    later = one.call("work.time", time="2026-01-31T15:00:00+02:00")
    assert later["result"] == "2026-01-31T13:00:00+00:00"
    for wrong in ("2026-01-31T12:30:00Z", "2026-01-31T14:00:00", "noon", 5):
        assert code(one.call("work.time", time=wrong)) == "contract_violation"  # type: ignore[arg-type]
    assert code(session().call("work.time")) == "capability_missing"
    assert code(session().call("work.ok", time="2026-01-31T12:00:00Z")) == "contract_violation"


def test_payloads_are_limited_both_ways() -> None:
    one = session(limits={"payload_bytes": 400})
    long = [["x" * 50]] * 4

    assert code(one.call("table.create", {"name": "t", "columns": ["c"], "rows": long})) == "ok"
    assert code(one.call("table.insert", {"table": "t", "rows": long})) == "ok"
    assert code(one.call("table.select", {"table": "t"})) == "contract_violation"
    too_long = {"table": "t", "rows": [["x" * 500]]}
    assert code(one.call("table.insert", too_long)) == "contract_violation"


def test_a_contract_expires_by_calls_and_by_time() -> None:
    few = session(limits={"calls": 2})
    assert [code(few.call("work.ok")) for _ in range(3)] == ["ok", "ok", "contract_violation"]

    short = session(time="2026-01-01T00:00:00Z", limits={"until": "2026-01-02T00:00:00Z"})
    assert code(short.call("work.ok")) == "ok"
    assert code(short.call("work.ok", time="2026-01-02T00:00:01Z")) == "contract_violation"


@pytest.mark.parametrize(
    ("needs", "expected"),
    [
        (Needs(backend=">=1"), "ok"),
        (Needs(backend=">=1,<2"), "ok"),
        (Needs(backend="==1.0.0"), "ok"),
        (Needs(backend=">=2"), "capability_missing"),
        (Needs(profile={"addon:cycles": ""}), "capability_missing"),
        (Needs(profile={"driver:gpu": ">=3"}), "capability_missing"),
        (Needs(listing=True), "ok"),
        (Needs(network=True), "nondeterministic_refused"),
        (Needs(ui=True), "nondeterministic_refused"),
        (Needs(clock=True), "nondeterministic_refused"),
    ],
)
def test_needs_are_checked_before_anything_runs(needs: Needs, expected: str) -> None:
    made = declare(lambda: 1, "needy", needs=needs)

    assert code(Session(Registry([made]), Tables()).call("work.needy")) == expected
    assert code(Session(REGISTRY).call("table.list")) == "capability_missing"


@pytest.mark.parametrize("need", ["network", "ui"])
def test_network_and_ui_need_a_permission_of_their_own(need: str) -> None:
    made = declare(lambda: 1, "needy", determinism="nondeterministic", needs=Needs(**{need: True}))
    registry = Registry([made])

    def called(require: str | None = None, **permissions: bool) -> str:
        offer = {"permissions": {"nondeterministic": True, **permissions}}
        one = Session(registry, contract=negotiate(offer, registry))
        return code(one.call("work.needy", require=require))

    assert called() == "capability_missing"
    assert called("nondeterministic") == "nondeterministic_refused"
    assert called(**{need: True}) == "ok"


def test_every_code_is_documented() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "tools.md").read_text("utf-8")
    rows = [line.split("`")[1] for line in guide.splitlines() if line.startswith("| `")]

    assert rows[-len(CODES) :] == list(CODES)
