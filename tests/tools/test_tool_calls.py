"""Every outcome is one envelope, and a call that fails leaves the state as it was."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from table_tools import Tables
from table_tools import registry as tables

from twice.foundation.comparison import Abs
from twice.tools import CallRefused, Context, Needs, Registry, Session, negotiate, tool
from twice.tools.call import PHASES, Note
from twice.tools.envelope import CODES


@tool("work.ok", determinism="deterministic")
def fine(value: float = -0.0) -> float:
    return value


@tool("work.fails", determinism="deterministic")
def fails(ctx: Context) -> int:
    """Change something, then fail."""
    ctx.call("table.create", name="left behind", columns=["x"])
    raise ValueError("the /secret/path of this\nTraceback (most recent call last)")


@tool("work.exits", determinism="deterministic")
def exits() -> int:
    raise SystemExit(3)


@tool("work.lies", determinism="deterministic")
def lies(ctx: Context) -> int:
    """Change something, then give back what is not declared."""
    ctx.call("table.create", name="left behind", columns=["x"])
    return "three"  # type: ignore[return-value]


@tool("work.nan", determinism="deterministic")
def nan() -> Any:
    return {"deep": [float("nan")]}


@tool("work.near", determinism="deterministic", tolerance=Abs(0.5))
def near() -> float:
    return 1.0


@tool("work.spins", determinism="deterministic", seconds=0.05)
def spins(ctx: Context) -> int:
    """Never end."""
    ctx.call("table.create", name="left behind", columns=["x"])
    while True:
        pass


@tool("work.holds", determinism="deterministic")
def holds(ctx: Context) -> str:
    """Swallow the failure of a part."""
    try:
        ctx.call("work.fails")
    except CallRefused as refused:
        return refused.code
    return ""


@tool("work.circle", determinism="deterministic")
def circle(ctx: Context) -> int:
    return int(ctx.call("work.circle"))


@tool("work.steps", determinism="deterministic")
def steps(ctx: Context) -> int:
    """Report progress."""
    for at in range(4):
        ctx.call("table.create", name=f"t{at}", columns=["x"])
        ctx.progress(at / 4, f"part {at}")
    return 4


@tool("work.named", determinism="deterministic")
def named(ctx: Context, width: float) -> str:
    """Make a thing under a name that follows from the parameters."""
    name = ctx.name("box")
    ctx.call("table.create", name=name, columns=["width"], rows=[[width]])
    return name


@tool("work.sorts", determinism="deterministic")
def sorts(ctx: Context, entities: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return ctx.sorted(entities)


@tool("work.time", determinism="deterministic")
def contract_time(ctx: Context) -> str:
    return ctx.time.isoformat()


WORK = [
    fine, fails, exits, lies, nan, near, spins, holds, circle, steps, named, sorts, contract_time
]  # fmt: skip
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


def session(**offer: Any) -> Session:
    backend = Tables()
    return Session(REGISTRY, backend, negotiate(offer, REGISTRY, backend))


def code(envelope: Mapping[str, Any]) -> str:
    return "ok" if envelope["ok"] else envelope["error"]["code"]


def test_a_success_carries_result_class_and_fingerprint() -> None:
    found = session().call("work.ok", {"value": 2.5})

    assert found["ok"] is True
    assert found["result"] == 2.5
    assert found["determinism"] == {
        "class": "deterministic", "seed": None, "seed_source": None, "call_key": None,
        "tolerance": None,
    }  # fmt: skip
    assert found["fingerprint"].startswith("sha256:")


def test_what_may_write_carries_the_fingerprint_of_the_state_that_it_left() -> None:
    one = session()
    wrote = one.call("table.create", {"name": "t", "columns": ["x"]})
    read = one.call("table.list")

    assert wrote["state_fingerprint"] == one.backend.fingerprint()
    assert "state_fingerprint" not in read
    assert session().call("work.ok")["state_fingerprint"] == Tables().fingerprint()


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
    def give() -> Any:
        return value

    give.__annotations__["return"] = kind
    found = Session(Registry([tool("give", determinism="deterministic")(give)])).call("give")

    words = ("which has no order", "whose order nobody can see", "which is no JSON type")
    assert code(found) == "execution_failed"
    assert any(each in found["error"]["message"] for each in words)


def test_minus_zero_is_zero() -> None:
    assert str(session().call("work.ok")["result"]) == "0.0"


def test_a_result_within_a_tolerance_claims_no_equality() -> None:
    found = session().call("work.near")

    assert found["fingerprint"] is None
    assert found["determinism"]["tolerance"] == Abs(0.5).to_json()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("work.fails", "execution_failed"),
        ("work.exits", "execution_failed"),
        ("work.lies", "execution_failed"),
        ("work.nan", "execution_failed"),
        ("work.spins", "timeout"),
        ("work.circle", "execution_failed"),
        ("work.none", "not_found"),
    ],
)
def test_a_failure_has_a_code_and_leaves_the_state_as_it_was(name: str, expected: str) -> None:
    one = session()
    one.call("table.create", {"name": "before", "columns": ["x"]})
    before = one.backend.fingerprint()
    found = one.call(name)

    assert code(found) == expected
    assert set(found["error"]) == {"code", "message", "details"}
    assert one.backend.fingerprint() == before
    assert one.call("table.list")["result"][0]["name"] == "before"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("[Errno 2] No such file: '/home/ann/scene.blend'", "No such file: 'scene.blend'"),
        ("cannot read C:\\Users\\ann\\scene.blend", "cannot read scene.blend"),
        ("see http://example.org/a/b and a/b", "see http://example.org/a/b and a/b"),
        ("path:/srv/x/y.txt:3", "path:y.txt:3"),
    ],
)
def test_no_folder_of_this_machine_goes_outward(said: str, told: str) -> None:
    @tool("breaks", determinism="deterministic")
    def breaks() -> int:
        raise OSError(said)

    message = Session(Registry([breaks])).call("breaks")["error"]["message"]

    assert told in message


def test_no_folder_goes_outward_with_a_result_of_another_type() -> None:
    @tool("gives.path", determinism="deterministic")
    def path() -> str:
        return Path("/home/ann/scene.blend")  # type: ignore[return-value]

    message = Session(Registry([path])).call("gives.path")["error"]["message"]

    assert "scene.blend" in message
    assert "/home" not in message


def test_no_stack_trace_goes_outward_and_the_whole_one_is_kept() -> None:
    observer = Noting()
    found = Session(REGISTRY, Tables(), observer=observer).call("work.fails")
    said = json.dumps(found)

    assert "Traceback" not in said
    assert "ValueError" in said
    assert "ValueError" in observer.notes[-1].trace
    assert __file__ in observer.notes[-1].trace


def test_a_part_that_fails_is_undone_even_where_the_whole_goes_on() -> None:
    one = session()

    assert one.call("work.holds")["result"] == "execution_failed"
    assert one.call("table.list")["result"] == []


def test_a_backend_that_cannot_go_back_has_partial_effects_reported() -> None:
    one = Session(REGISTRY, Fixed())

    assert one.call("work.fails")["error"]["details"]["partial_effects"] is True
    assert one.call("work.exits")["error"]["details"]["partial_effects"] is False


def test_a_time_limit_of_the_contract_counts_as_well() -> None:
    @tool("spins", determinism="deterministic")
    def endless() -> int:
        while True:
            pass

    registry = Registry([endless])
    contract = negotiate({"limits": {"seconds": 0.05}}, registry)

    assert code(Session(registry, contract=contract).call("spins")) == "timeout"


def test_the_limit_that_struck_is_the_one_that_is_told() -> None:
    error = session().call("work.spins")["error"]

    assert error["details"]["limit_s"] == 0.05
    assert "within 0.05 s, as it declares" in error["message"]


def test_off_the_main_thread_a_limit_is_told_at_the_next_use_of_the_context() -> None:
    @tool("slow", determinism="nondeterministic")
    def slow(ctx: Context) -> int:
        while True:
            ctx.progress(0.5)

    registry = Registry([slow])
    offer = {"limits": {"seconds": 0.05}, "permissions": {"nondeterministic": True}}
    found: list[dict[str, Any]] = []
    one = Session(registry, contract=negotiate(offer, registry))
    thread = threading.Thread(target=lambda: found.append(one.call("slow")))
    thread.start()
    thread.join(20)

    assert code(found[0]) == "timeout"


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

    assert observer.events == [
        ("began", ()),
        ("began", ("work.fails",)),
        ("began", ("work.fails", "table.create")),
        ("ended", ("work.fails", "table.create")),
        ("ended", ("work.fails",)),
        ("ended", ()),
    ]


def test_progress_is_told_and_a_cancelled_call_is_undone() -> None:
    told: list[tuple[float, str]] = []
    one = session()
    found = one.call(
        "work.steps",
        progress=lambda fraction, text: told.append((fraction, text)),
        cancelled=lambda: len(told) == 2,
    )

    assert told == [(0.0, "part 0"), (0.25, "part 1")]
    assert found["error"]["details"]["cancelled"] is True
    assert one.call("table.list")["result"] == []


def test_a_name_follows_from_the_parameters_and_a_taken_one_is_a_conflict() -> None:
    one = session()
    first = one.call("work.named", {"width": 1.5})
    again = one.call("work.named", {"width": 1.5})
    other = one.call("work.named", {"width": 1.25})

    assert first["result"] == session().call("work.named", {"width": 1.5})["result"]
    assert len(first["result"]) == len("box_") + 12
    assert code(again) == "conflict"
    assert other["result"] != first["result"]


def test_entities_are_sorted_by_type_name_and_id_in_code_point_order() -> None:
    given = [
        {"type": "MESH", "name": "a", "id": "2"},
        {"type": "MESH", "name": "Z"},
        {"type": "CAMERA", "name": "é"},
        {"type": "CAMERA", "name": "z"},
        {"type": "MESH", "name": "a", "id": "1"},
    ]
    found = session().call("work.sorts", {"entities": given})["result"]

    assert [(each["type"], each["name"], each.get("id")) for each in found] == [
        ("CAMERA", "z", None), ("CAMERA", "é", None), ("MESH", "Z", None), ("MESH", "a", "1"),
        ("MESH", "a", "2"),
    ]  # fmt: skip


def test_entities_that_cannot_be_told_apart_have_no_order() -> None:
    found = session().call("work.sorts", {"entities": [{"name": "a"}, {"name": "a"}]})

    assert code(found) == "execution_failed"


def test_tools_see_contract_time_alone() -> None:
    one = session(time="2026-01-31T12:00:00Z")

    assert one.call("work.time")["result"] == "2026-01-31T12:00:00+00:00"
    later = one.call("work.time", time="2026-01-31T13:00:00+00:00")
    assert later["result"] == "2026-01-31T13:00:00+00:00"
    assert code(one.call("work.time", time="2026-01-31T12:30:00Z")) == "contract_violation"
    assert code(one.call("work.time", time="noon")) == "contract_violation"
    assert code(session().call("work.time")) == "capability_missing"


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


def test_one_call_at_a_time() -> None:
    one = session()
    seen: list[str] = []
    one.call("work.steps", progress=lambda *_: seen.append(code(one.call("work.ok"))))

    assert seen == ["contract_violation"] * 4


def test_a_tool_whose_backend_is_missing_is_refused() -> None:
    registry = Registry(list(tables))

    assert code(Session(registry).call("table.list")) == "capability_missing"


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
    made = tool("needy", determinism="deterministic", needs=needs)(lambda: 1)
    backend = Tables()

    assert code(Session(Registry([made]), backend).call("needy")) == expected


@pytest.mark.parametrize("need", ["network", "ui"])
def test_network_and_ui_need_a_permission_of_their_own(need: str) -> None:
    made = tool("needy", determinism="nondeterministic", needs=Needs(**{need: True}))(lambda: 1)
    registry = Registry([made])

    def called(require: str | None = None, **permissions: bool) -> str:
        offer = {"permissions": {"nondeterministic": True, **permissions}}
        one = Session(registry, contract=negotiate(offer, registry))
        return code(one.call("needy", require=require))

    assert called() == "capability_missing"
    assert called("nondeterministic") == "nondeterministic_refused"
    assert called(**{need: True}) == "ok"


def test_a_host_that_raises_in_its_progress_gets_an_envelope() -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("the host's own")

    assert code(session().call("work.steps", progress=broken)) == "execution_failed"


def test_every_code_is_documented() -> None:
    assert sorted(CODES) == sorted(
        "invalid_arguments not_found conflict capability_missing contract_violation"
        " nondeterministic_refused seed_required timeout execution_failed internal_error".split()
    )


@tool("work.cancels", determinism="deterministic")
def cancels(ctx: Context) -> int:
    """Change something, then raise what is no ``Exception``."""
    ctx.call("table.create", name="left behind", columns=["x"])
    raise asyncio.CancelledError


def test_what_is_raised_and_no_exception_is_an_outcome_too() -> None:
    backend = Tables()
    found = Session(Registry([cancels, *tables]), backend).call("work.cancels")

    assert found["error"]["code"] == "execution_failed"
    assert "CancelledError" in found["error"]["message"]
    assert backend.state() == {}


@tool("work.reads", determinism="deterministic", reads_only=True)
def reads(ctx: Context) -> int:
    """Say that it reads, let a part write, and fail."""
    ctx.call("table.create", name="left behind", columns=["x"])
    raise ValueError


def test_what_reads_only_has_no_part_that_writes() -> None:
    backend = Tables()
    found = Session(Registry([reads, *tables]), backend).call("work.reads")

    assert found["error"]["code"] == "execution_failed"
    assert "table.create, which may write" in found["error"]["message"]
    assert backend.state() == {}


@tool("work.around", determinism="deterministic")
def around(ctx: Context) -> float:
    """Declare no tolerance, and give what a part gave within one."""
    return float(ctx.call("work.near"))


@tool("work.further", determinism="deterministic")
def further(ctx: Context) -> float:
    """Lie around that."""
    return float(ctx.call("work.around"))


@pytest.mark.parametrize("name", ["work.around", "work.further"])
def test_equality_is_not_claimed_around_a_part_with_a_tolerance(name: str) -> None:
    found = Session(Registry([near, around, further])).call(name)

    assert (found["ok"], found["fingerprint"]) == (True, None)


class _Stuck(Tables):
    """Tables that cannot go back."""

    def rollback(self, checkpoint: Any) -> None:
        """Fail."""
        raise OSError(f"no way back to {checkpoint}")


def test_a_backend_that_does_not_go_back_is_told_of() -> None:
    found = Session(Registry([fails, *tables]), _Stuck()).call("work.fails")

    assert found["error"]["code"] == "internal_error"
    assert found["error"]["details"]["partial_effects"] is True
