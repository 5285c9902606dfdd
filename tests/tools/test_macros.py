"""A macro is a function over declared tools: what it promises follows from them, and all of it happens or nothing."""

from __future__ import annotations

from typing import Any

import pytest
from table_tools import Tables, create, drop, insert, select, shuffle

from twice.foundation.comparison import Abs, Rel
from twice.tools import (
    CallRefused,
    Context,
    Determinism,
    Needs,
    Registry,
    Session,
    Tool,
    macro,
    negotiate,
    tool,
)
from twice.tools.errors import ToolRefused
from twice.tools.needs import union


@tool("list.names", determinism="deterministic", reads_only=True)
def names(prefix: str, count: int) -> list[dict[str, str]]:
    return [{"type": "T", "name": f"{prefix}{at}"} for at in reversed(range(count))]


@tool("guess", determinism="nondeterministic", needs=Needs(clock=True))
def guess() -> int:
    return 1


@tool("fails", determinism="deterministic")
def fails(ctx: Context) -> int:
    raise ValueError("always")


@macro("fill", uses=[create, insert, select])
def fill(ctx: Context, table: str, y: int = 7) -> Any:
    """Make a table and read it."""
    if ctx.backend.holds(table):
        raise CallRefused("conflict", "There is one.", "", "")
    made = ctx.call(create, name=table, columns=["x", "y"])
    ctx.call(insert, table=made["table"], rows=[[1, y], [2, None]])
    return ctx.call(select, table=table)["rows"][0][1]


def nothing(ctx: Context) -> None:
    """Call none."""


def made_of(*parts: Tool, name: str = "m") -> Tool:
    return macro(name, uses=parts)(nothing)


def called(made: Tool, arguments: dict[str, Any], backend: Any = None) -> Any:
    backend = Tables() if backend is None else backend
    registry = Registry([made])
    offer = {"session_seed": 3, "permissions": {"nondeterministic": True}}
    contract = negotiate(offer, registry, backend)
    return Session(registry, backend, contract).call(made.name, arguments)


def test_its_parameters_defaults_and_results_are_the_functions() -> None:
    assert called(fill, {"table": "t"})["result"] == 7
    assert called(fill, {"table": "t", "y": 1})["result"] == 1
    assert called(fill, {"table": 1})["error"]["code"] == "invalid_arguments"


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ([names], Determinism.DETERMINISTIC),
        ([names, shuffle], Determinism.SEEDED),
        ([shuffle, guess, names], Determinism.NONDETERMINISTIC),
    ],
)
def test_the_class_is_that_of_the_weakest_step(parts: list[Tool], kind: Determinism) -> None:
    made = made_of(*parts)
    nested = made_of(made_of(made, name="o"), name="n")

    assert made.determinism is kind
    assert nested.determinism is kind
    assert ("seed" in made.parameters.schema.get("properties", {})) == (kind is Determinism.SEEDED)


def test_needs_flags_and_tolerances_are_computed() -> None:
    both = union([Needs(network=True, backend=">=4"), Needs(clock=True, backend="<5")])
    near = tool("near", determinism="deterministic", tolerance=Abs(0.1))(lambda: 1.0)
    nearer = tool("nearer", determinism="deterministic", tolerance=Rel(0.1))(lambda: 1.0)
    flags = made_of(names, drop)

    assert (both.network, both.clock, both.ui, both.backend) == (True, True, False, "<5,>=4")
    assert made_of(names, guess).needs.clock
    assert made_of(names).reads_only
    assert (flags.reads_only, flags.idempotent, flags.destructive) == (False, False, True)
    assert made_of(near).tolerance == Abs(0.1)
    assert macro("m", uses=[near, nearer], tolerance=Abs(1.0))(nothing).tolerance == Abs(1.0)
    with pytest.raises(ToolRefused):
        made_of(near, nearer)


@pytest.mark.parametrize("order", [["b", "a"], ["a", "b"]])
def test_gathered_lists_are_in_canonical_order_whatever_step_gave_them(order: list[str]) -> None:
    @macro("m", uses=[names])
    def gather(ctx: Context) -> list[dict[str, str]]:
        parts = [ctx.call(names, prefix=each, count=2, step=each) for each in order]
        return ctx.sorted(entity for part in parts for entity in part)

    assert [each["name"] for each in called(gather, {})["result"]] == ["a0", "a1", "b0", "b1"]


def test_a_failing_step_leaves_nothing_and_is_named() -> None:
    @macro("m", uses=[create, fails])
    def boom(ctx: Context) -> None:
        ctx.call(create, name="t", columns=["x"])
        ctx.call(fails, step="boom")

    @macro("outer", uses=[boom])
    def outer(ctx: Context) -> None:
        ctx.call(boom)

    backend = Tables()
    found = called(outer, {}, backend)

    assert found["error"]["code"] == "execution_failed"
    assert found["error"]["details"]["path"] == ["m", "boom"]
    assert backend.state() == {}


def test_it_refuses_in_its_own_words() -> None:
    session = Session(Registry([fill]), Tables())
    session.call("fill", {"table": "t"})
    error = session.call("fill", {"table": "t"})["error"]

    assert error["code"] == "conflict"
    assert error["message"].startswith("There is one.")


def test_it_calls_no_tool_that_it_does_not_declare() -> None:
    @macro("m", uses=[create])
    def strays(ctx: Context) -> None:
        ctx.call(create, name="t", columns=["x"])
        ctx.call(drop, table="t")

    backend = Tables()
    error = Session(Registry([strays, drop]), backend).call("m")["error"]

    assert error["code"] == "execution_failed"
    assert "calls table.drop, and is not declared to use it" in error["message"]
    assert backend.state() == {}


@pytest.mark.parametrize("uses", [[], ["list.names"], [names.function]])
def test_a_macro_that_makes_no_sense_is_refused(uses: list[Any]) -> None:
    with pytest.raises(ToolRefused):
        macro("m", uses=uses)


def test_its_fingerprint_covers_its_source_and_the_tools_that_it_uses() -> None:
    other = tool("list.names", determinism="deterministic", reads_only=True, version="2")(
        names.function
    )
    made = [
        made_of(names),
        made_of(other),
        made_of(names, create),
        macro("m", uses=[names], derives="steps")(nothing),
        macro("m", uses=[names])(lambda: None),
    ]

    assert len(dict.fromkeys(each.fingerprint for each in made)) == len(made)


def test_a_macro_brings_its_steps_tools_into_the_registry() -> None:
    assert Registry([fill]).names == ["fill", "table.create", "table.insert", "table.select"]
