"""A macro is data: what it promises is computed, and all of it happens or nothing does."""

from __future__ import annotations

from typing import Any

import pytest

from twice.foundation.comparison import Abs, Rel
from twice.tools import (
    Condition,
    Context,
    Determinism,
    Gather,
    Needs,
    Ref,
    Registry,
    Session,
    Step,
    Tool,
    macro,
    negotiate,
    tool,
)
from twice.tools.errors import ToolRefused
from twice.tools.needs import union
from twice.tools.scenes.tables import Tables, create, drop, insert, select, shuffle


@tool("list.names", determinism="deterministic", reads_only=True)
def names(prefix: str, count: int) -> list[dict[str, str]]:
    return [{"type": "T", "name": f"{prefix}{at}"} for at in reversed(range(count))]


@tool("guess", determinism="nondeterministic", needs=Needs(clock=True))
def guess() -> int:
    return 1


@tool("fails", determinism="deterministic")
def fails(ctx: Context) -> int:
    raise ValueError("always")


class Fixed(Tables):
    checkpoint = None  # type: ignore[assignment]
    rollback = None  # type: ignore[assignment]


def filled(name: str = "fill", **more: Any) -> Tool:
    return macro(
        name,
        [
            Step(create, {"name": Ref("parameters.table"), "columns": ["x", "y"]}),
            Step(
                insert,
                {"table": Ref("steps.create.table"), "rows": [[1, Ref("parameters.y")], [2, None]]},
            ),
            Step(select, {"table": Ref("parameters.table")}, name="read"),
        ],
        parameters={"table": str, "y": (int, 7)},
        **more,
    )


def called(made: Tool, arguments: dict[str, Any], backend: Any = None) -> Any:
    backend = Tables() if backend is None else backend
    registry = Registry([made])
    offer = {"session_seed": 3, "permissions": {"nondeterministic": True}}
    return Session(registry, backend, negotiate(offer, registry, backend)).call(
        made.name, arguments
    )


def test_references_reach_parameters_defaults_and_earlier_results() -> None:
    found = called(filled(result=Ref("steps.read.rows.0.1")), {"table": "t"})

    assert found["result"] == 7


def test_without_a_result_every_steps_result_stands_under_its_name() -> None:
    found = called(filled(), {"table": "t", "y": 1})

    assert sorted(found["result"]) == ["create", "insert", "read"]


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ([names], Determinism.DETERMINISTIC),
        ([names, shuffle], Determinism.SEEDED),
        ([shuffle, guess, names], Determinism.NONDETERMINISTIC),
    ],
)
def test_the_class_is_that_of_the_weakest_step(parts: list[Tool], kind: Determinism) -> None:
    made = macro("m", [Step(each) for each in parts])
    nested = macro("n", [Step(macro("o", [Step(made)]))])

    assert made.determinism is kind
    assert nested.determinism is kind
    assert ("seed" in made.parameters.schema.get("properties", {})) == (kind is Determinism.SEEDED)


def test_needs_are_the_union_and_ranges_hold_together() -> None:
    both = union([Needs(network=True, backend=">=4"), Needs(clock=True, backend="<5")])

    assert (both.network, both.clock, both.ui, both.backend) == (True, True, False, "<5,>=4")
    assert macro("m", [Step(names), Step(guess)]).needs.clock


def test_flags_and_tolerances_are_computed() -> None:
    near = tool("near", determinism="deterministic", tolerance=Abs(0.1))(lambda: 1.0)
    nearer = tool("nearer", determinism="deterministic", tolerance=Rel(0.1))(lambda: 1.0)

    assert macro("m", [Step(names)]).reads_only
    assert not filled().reads_only
    assert macro("m", [Step(drop)]).destructive
    undone = macro("m", [Step(names, undo=Step(drop))])
    assert (undone.reads_only, undone.idempotent, undone.destructive) == (False, False, True)
    assert macro("m", [Step(near)]).tolerance == Abs(0.1)
    with pytest.raises(ToolRefused):
        macro("m", [Step(near), Step(nearer)])


def test_gathered_lists_are_in_canonical_order_whatever_step_gave_them() -> None:
    pair = [
        Step(names, {"prefix": "b", "count": 2}, name="one"),
        Step(names, {"prefix": "a", "count": 1}, name="other"),
    ]
    one = macro("m", pair, result=Gather("steps.one", "steps.other"))
    other = macro("m", pair[::-1], result=Gather("steps.other", "steps.one"))

    assert called(one, {})["result"] == called(other, {})["result"]
    assert [each["name"] for each in called(one, {})["result"]] == ["a0", "b0", "b1"]


def test_a_failing_step_leaves_nothing_and_is_named() -> None:
    backend = Tables()
    made = macro("m", [Step(create, {"name": "t", "columns": ["x"]}), Step(fails, name="boom")])
    outer = macro("outer", [Step(made)])
    found = called(outer, {}, backend)

    assert found["error"]["code"] == "execution_failed"
    assert found["error"]["details"]["path"] == ["m", "boom"]
    assert backend.state() == {}


def test_where_a_backend_cannot_go_back_finished_steps_are_undone_in_reverse() -> None:
    backend = Fixed()
    made = macro(
        "m",
        [
            Step(
                create,
                {"name": "t", "columns": ["x"]},
                undo=Step(drop, {"table": Ref("steps.create.table")}),
            ),
            Step(fails),
        ],
    )
    found = called(made, {}, backend)

    assert found["error"]["details"]["partial_effects"] is False
    assert backend.state() == {}


def test_a_precondition_is_a_conflict_before_anything_is_done() -> None:
    backend = Tables()
    backend.add("t", create_table())
    made = filled(before=[Condition(Ref("parameters.table"), "free", otherwise="There is one.")])
    found = called(made, {"table": "t"}, backend)

    assert found["error"]["code"] == "conflict"
    assert found["error"]["message"].startswith("There is one.")


def create_table() -> Any:
    from twice.tools.scenes.tables import Table

    return Table(("x",))


@pytest.mark.parametrize(
    ("relation", "right", "good"),
    [("==", 2, True), ("!=", 2, False), ("<", 3, True), (">=", 3, False), ("<", "a", False)],
)
def test_a_postcondition_that_does_not_hold_undoes_everything(
    relation: Any, right: Any, good: bool
) -> None:
    backend = Tables()
    condition = Condition(Ref("steps.insert.rows"), relation, right)
    found = called(filled(after=[condition]), {"table": "t"}, backend)

    assert found["ok"] is good
    assert bool(backend.state()) is good


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [Step(names), Step(names)],
        [Step(names, name="a.b")],
        [Step("list.names")],  # type: ignore[arg-type]
        [Step(names, {"prefix": Ref("parameters.none")})],
        [Step(names, {"prefix": Ref("steps.later")}), Step(names, name="later")],
        [Step(names, {"prefix": Ref("elsewhere.x")})],
        [Step(names, {"prefix": {"$ref": "x"}})],
        [Step(names, {"prefix": float("nan")})],
    ],
)
def test_a_macro_that_makes_no_sense_is_refused(steps: list[Step]) -> None:
    with pytest.raises(ToolRefused):
        macro("m", steps)


def test_a_macro_does_not_declare_the_seed_itself() -> None:
    with pytest.raises(ToolRefused):
        macro("m", [Step(names)], parameters={"seed": int})


def test_its_fingerprint_covers_templates_conditions_and_the_tools_of_its_steps() -> None:
    other = tool("list.names", determinism="deterministic", reads_only=True, version="2")(
        names.function  # type: ignore[arg-type]
    )
    made = [
        macro("m", [Step(names, {"prefix": "a", "count": 1})]),
        macro("m", [Step(names, {"prefix": "b", "count": 1})]),
        macro("m", [Step(other, {"prefix": "a", "count": 1})]),
        macro("m", [Step(names, {"prefix": "a", "count": 1})], after=[Condition(1, "==", 1)]),
        macro("m", [Step(names, {"prefix": "a", "count": 1})], derives="steps"),
        macro("m", [Step(names, {"prefix": "a", "count": 1})], result=Ref("steps.names")),
    ]

    assert len(dict.fromkeys(each.fingerprint for each in made)) == len(made)


def test_a_macro_brings_its_steps_tools_into_the_registry() -> None:
    assert Registry([filled()]).names == ["fill", "table.create", "table.insert", "table.select"]


def test_a_macro_cannot_be_called_as_a_function() -> None:
    with pytest.raises(TypeError):
        filled()()
