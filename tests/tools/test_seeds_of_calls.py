"""Which seed counts and what is refused: every class, requirement, seed source and permission."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from twice.foundation.seeds import Seed, derive_in
from twice.tools import Context, Registry, Session, Tool, macro, negotiate, tool
from twice.tools.call import Note

SEED_SOURCES = ("none", "session", "parameter", "parameter and session")
CLASSES = ("deterministic", "seeded", "nondeterministic")
REQUIREMENTS = (None, *CLASSES)


@tool("plain", determinism="deterministic")
def plain_tool() -> int:
    return 1


@tool("draw", determinism="seeded")
def draw(ctx: Context) -> int:
    return ctx.seed("number")


@tool("guess", determinism="nondeterministic")
def guess() -> int:
    return 1


BY_CLASS = {"deterministic": plain_tool, "seeded": draw, "nondeterministic": guess}


def around(name: str, inner: Tool) -> Tool:
    """Make a macro of one call."""

    def call(ctx: Context) -> Any:
        return {inner.name: ctx.call(inner)}

    return macro(name, uses=[inner])(call)


MACROS = {kind: around(f"macro.{kind}", each) for kind, each in BY_CLASS.items()}
DEEP = {
    kind: around(f"deep.{kind}", around(f"middle.{kind}", inner)) for kind, inner in MACROS.items()
}
REGISTRY = Registry([*BY_CLASS.values(), *MACROS.values(), *DEEP.values()])


def expected(kind: str, require: str | None, source: str, permitted: bool) -> tuple[str, Any]:
    """Write out the rules: return the code of a refusal, or "ok" and the source of the seed."""
    strength = {"deterministic": 2, "seeded": 1, "nondeterministic": 0}
    if kind != "seeded" and source.startswith("parameter"):
        return "invalid_arguments", None
    if require is not None and strength[kind] < strength[require]:
        return "nondeterministic_refused", None
    if kind == "nondeterministic" and not permitted:
        return "nondeterministic_refused", None
    if kind != "seeded":
        return "ok", None
    if source == "none":
        return "seed_required", None
    return "ok", "parameter" if source.startswith("parameter") else "session"


def session(source: str, permitted: bool = False) -> Session:
    offer: dict[str, Any] = {"permissions": {"nondeterministic": permitted}}
    if "session" in source:
        offer["session_seed"] = 5
    return Session(REGISTRY, contract=negotiate(offer, REGISTRY))


@pytest.mark.parametrize("depth", [BY_CLASS, MACROS, DEEP], ids=["tool", "macro", "depth three"])
def test_every_combination_follows_the_rules(depth: dict[str, Tool]) -> None:
    count = 0
    for kind, require, source, permitted in product(
        CLASSES, REQUIREMENTS, SEED_SOURCES, (False, True)
    ):
        given = {"seed": 7} if source.startswith("parameter") else {}
        found = session(source, permitted).call(depth[kind].name, given, require=require)
        code = "ok" if found["ok"] else found["error"]["code"]
        told = found["determinism"]["seed_source"] if found["ok"] else None

        assert (code, told) == expected(kind, require, source, permitted), (kind, require, source)
        if told:
            assert found["determinism"]["seed"] == (7 if told == "parameter" else 5)
            assert found["determinism"]["class"] == kind
        count += 1
    assert count == 3 * 4 * 4 * 2


def test_a_refusal_names_the_step_to_blame() -> None:
    found = session("session").call("deep.seeded", {}, require="deterministic")

    assert found["error"]["details"]["step"] == [
        "deep.seeded", "middle.seeded", "macro.seeded", "draw"
    ]  # fmt: skip
    assert "middle.seeded > macro.seeded > draw" in found["error"]["message"]


def test_a_contract_and_a_call_require_together() -> None:
    contract = negotiate({"require": "seeded", "session_seed": 1}, REGISTRY)
    strict = Session(REGISTRY, contract=contract)

    assert strict.call("draw")["ok"]
    assert strict.call("draw", require="nondeterministic")["ok"]
    assert not strict.call("draw", require="deterministic")["ok"]
    assert not strict.call("guess")["ok"]


def test_equal_calls_draw_alike_and_another_key_or_seed_draws_differently() -> None:
    one = session("session")
    draws = [one.call("draw")["result"] for _ in range(3)]
    others = [
        one.call("draw", given) for given in ({"call_key": "a"}, {"call_key": "b"}, {"seed": 6})
    ]
    told = others[0]["determinism"]
    echoed = {"seed": told["seed"], "call_key": told["call_key"]}

    assert len(dict.fromkeys([*draws, *(each["result"] for each in others)])) == 4
    assert session("none").call("draw", echoed)["fingerprint"] == others[0]["fingerprint"]


def test_a_draw_is_what_the_derivation_says() -> None:
    found = session("none").call("draw", {"seed": 7, "call_key": "k"})
    derived = derive_in(derive_in(Seed(7), "call", "k"), "tool", "draw", "number")

    assert found["result"] == derived.value % 2**31


@pytest.mark.parametrize("seed", [0, 2**53 - 1, str(2**53), str(2**256 - 1), "12"])
def test_a_seed_in_range_is_echoed_unharmed(seed: int | str) -> None:
    found = session("none").call("draw", {"seed": seed})

    assert int(found["determinism"]["seed"]) == int(seed)


@pytest.mark.parametrize(
    ("tool", "name", "value"),
    [
        *(
            ("draw", "seed", each)
            for each in (
                -1, 2**53, 2**256, str(2**256), "-1", "1.0", "0x2a", "01", "", 1.0, True, [1], "9" * 90,
            )
        ),
        *(("draw", "call_key", each) for each in ("", "x" * 256, "é" * 128, 3, ["a"])),
        *(("plain", each, "7") for each in ("seed", "call_key")),
    ],
)  # fmt: skip
def test_what_is_no_seed_and_no_key_or_not_taken_is_refused(
    tool: str, name: str, value: Any
) -> None:
    error = session("session").call(tool, {name: value})["error"]

    assert error["code"] == "invalid_arguments"
    assert error["details"]["problems"][0]["path"] == name
    taken = f"a deterministic tool draws nothing, and takes no {name}"
    assert (taken in error["message"]) is (tool == "plain")


def test_a_macros_seed_stands_for_the_sessions_inside_of_it() -> None:
    alone = session("none").call("draw", {"seed": 7})
    one = session("session")

    assert one.call("macro.seeded", {"seed": 7})["result"] == {"draw": alone["result"]}
    assert one.call("deep.seeded")["result"] != one.call("deep.seeded", {"call_key": "x"})["result"]


def test_steps_draw_alike_unless_the_macro_derives_by_steps() -> None:
    def pair(ctx: Context) -> Any:
        return [ctx.call(draw, step=step) for step in ("left", "right")]

    made = [macro(each, uses=[draw], derives=each)(pair) for each in ("seed", "steps")]  # type: ignore[arg-type]
    found = Session(Registry(made))
    drawn = [dict.fromkeys(found.call(each, {"seed": 1})["result"]) for each in ("seed", "steps")]

    assert [len(each) for each in drawn] == [1, 2]


def test_a_steps_own_seed_comes_before_the_macros() -> None:
    @macro("fixed", uses=[draw])
    def fixed(ctx: Context, inner: int) -> Any:
        return ctx.call(draw, seed=inner)

    alone = session("none").call("draw", {"seed": 3})

    found = Session(Registry([fixed])).call("fixed", {"seed": 9, "inner": 3})
    assert found["result"] == alone["result"]


def test_a_parameter_called_seed_receives_the_number_that_seed_and_key_make() -> None:
    @tool("own", determinism="seeded")
    def own(seed: int) -> str:
        return str(seed)

    one = Session(Registry([own]))

    assert one.call("own", {"seed": 7})["result"] == "7"
    keyed = one.call("own", {"seed": 7, "call_key": "k"})["result"]
    assert keyed == str(derive_in(Seed(7), "call", "k").value)


def test_consumers_get_seeds_in_their_own_range() -> None:
    @tool("ranged", determinism="seeded")
    def ranged(ctx: Context) -> list[int]:
        return [ctx.seed(f"a/{at}", -2, 3) for at in range(200)]

    found = Session(Registry([ranged])).call("ranged", {"seed": 7})["result"]

    assert sorted(dict.fromkeys(found)) == [-2, -1, 0, 1, 2]


def test_no_tool_promises_more_than_what_it_does() -> None:
    @tool("sly", determinism="deterministic")
    def sly(ctx: Context) -> float:
        return float(ctx.rng("x").random())

    @tool("whole", determinism="deterministic")
    def whole(ctx: Context) -> int:
        return int(ctx.call("draw", seed=1))

    one = Session(Registry([sly, whole, draw]))
    errors = [one.call(each)["error"] for each in ("sly", "whole")]

    assert [each["code"] for each in errors] == ["nondeterministic_refused"] * 2
    assert errors[1]["details"]["path"] == ["draw"]


def test_parts_say_that_their_seed_came_from_the_macro() -> None:
    sources: list[tuple[tuple[str, ...], str | None]] = []

    class Noting:
        def on_begin(self, note: Note) -> None:
            pass

        def on_end(self, note: Note) -> None:
            sources.append((note.path, note.seeded and note.seeded.source))

    contract = negotiate({"session_seed": 5}, REGISTRY)
    Session(REGISTRY, contract=contract, observer=Noting()).call("macro.seeded")

    assert sources == [(("draw",), "macro"), ((), "session")]
