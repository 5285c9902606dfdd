"""A declaration is complete and makes sense, or it is refused where it stands; its fingerprint covers what a caller relies on."""

from __future__ import annotations

import enum
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from pydantic import BaseModel, Field
from table_tools import registry as tables

from twice.foundation.comparison import Abs
from twice.tools import Context, Needs, Registry, Session, Tool, tool
from twice.tools.errors import RegistryRefused, ToolRefused


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Box(BaseModel):
    low: float
    high: float = 1.0


@tool("paint.box", determinism="deterministic", version="2.0.0")
def paint(
    box: Box,
    ctx: Context,
    count: Annotated[int, Field(ge=1, le=9)] = 3,
    mode: Literal["fill", "line"] = "fill",
    colour: Colour = Colour.RED,
    copy: bool = False,
) -> dict[str, Any]:
    """Paint a box.

    More about it.
    """
    assert isinstance(ctx, Context)
    return {"high": box.high, "count": count, "mode": mode, "colour": colour.value, "copy": copy}


def call(arguments: dict[str, Any]) -> dict[str, Any]:
    return Session(Registry([paint])).call("paint.box", arguments)


def test_a_tool_has_the_parameters_and_the_documentation_of_its_function() -> None:
    assert paint.parameters.names == ("box", "count", "mode", "colour", "copy")
    assert paint.summary == "Paint a box."
    assert paint.description.endswith("More about it.")


def test_defaults_enums_models_and_awkward_names_arrive_as_declared() -> None:
    found = call({"box": {"low": 0.0}, "colour": "blue"})

    expected = {"high": 1.0, "count": 3, "mode": "fill", "colour": "blue", "copy": False}
    assert found["result"] == expected


BOX = {"box": {"low": 0.0}}


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        *({**BOX, "count": each} for each in ("3", 3.0, True, 0, 2**60)),
        *({**BOX, **each} for each in ({"mode": "dot"}, {"colour": "green"}, {"copy": 1})),
        *({**BOX, **each} for each in ({"other": 1}, {"ctx": {}}, {"seed": 1}, {"mode": "\ud800"})),
        *({"box": {"low": each}} for each in ("0", float("nan"), float("inf"))),
        {"box": {"low": 0.0, "other": 1}},
        {1: 2},
        {"box": {1, 2}},
    ],
)
def test_nothing_is_coerced_and_nothing_unknown_is_passed_over(arguments: dict[str, Any]) -> None:
    found = call(arguments)

    assert found["error"]["code"] == "invalid_arguments"
    assert found["error"]["details"]["problems"]


def test_the_schema_says_what_is_accepted() -> None:
    schema = paint.parameters.schema
    validator = jsonschema.Draft202012Validator(schema)

    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["properties"]["count"]["default"] == 3
    assert validator.is_valid({**BOX, "count": 9})
    assert not validator.is_valid({**BOX, "count": 10})
    assert not validator.is_valid({**BOX, "other": 1})


def test_a_tool_is_still_the_function_and_finds_types_that_are_local_to_it() -> None:
    class Local(BaseModel):
        n: int

    @tool("local", determinism="deterministic")
    def local(value: Local) -> Local:
        return Local(n=value.n + 1)

    assert local(Local(n=2)) == Local(n=3)
    found = Session(Registry([local])).call("local", {"value": {"n": 1}})
    assert found["result"] == {"n": 2}


def no_type(a) -> int:  # type: ignore[no-untyped-def]
    return 1


def many(*args: int) -> int:
    return 1


def odd(a: object()) -> int:  # type: ignore[valid-type]
    return 1


def of_a_set() -> set[str]:
    return set()


def with_seed(seed: int) -> int:
    return seed


def with_key(call_key: str) -> int:
    return 1


def unknown_type(a: Nowhere) -> int:  # type: ignore[name-defined]  # noqa: F821
    return 1


def wrong_default(n: Annotated[int, Field(ge=0)] = -1) -> int:
    return n


def endless(x: float = float("inf")) -> float:
    return x


def good() -> int:
    return 1


@pytest.mark.parametrize(
    ("function", "more", "words"),
    [
        (good, {"determinism": None}, "declares no class"),
        (good, {"determinism": "mostly"}, "declares 'mostly'"),
        (good, {"derives": "luck"}, "derives 'luck'"),
        (good, {"seconds": 0}, "time limit of 0"),
        (good, {"reads_only": True, "destructive": True}, "read only and to be destructive"),
        (no_type, {}, "has no type"),
        (many, {}, "*args"),
        (odd, {}, "no JSON Schema"),
        (wrong_default, {}, "default of n"),
        (of_a_set, {}, "holds a set"),
        (with_seed, {}, "is not declared seeded"),
        (with_seed, {"determinism": "nondeterministic"}, "is not declared seeded"),
        (with_key, {}, "is not declared seeded"),
        (with_key, {"determinism": "seeded"}, "declares the parameter call_key"),
        (unknown_type, {}, "cannot be read"),
        (endless, {}, "no canonical form"),
        *(
            (good, {"name": name}, "no name for a tool")
            for name in ("", "1a", "a..b", ".a", "a b", "a/b", "x" * 65, "é")
        ),
        (good, {"name": good}, "without a name"),
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused(
    function: Callable[..., Any], more: dict[str, Any], words: str
) -> None:
    with pytest.raises(ToolRefused) as refused:
        tool(**{"name": "a.tool", "determinism": "deterministic", **more})(function)

    assert words in refused.value.happened
    assert refused.value.remedy


@pytest.mark.parametrize("needs", [{"backend": "4.5"}, {"profile": {"a": "new"}}, {"ui": "yes"}])
def test_needs_that_cannot_be_read_are_refused(needs: dict[str, Any]) -> None:
    with pytest.raises(ToolRefused):
        Needs(**needs)


def test_a_registry_holds_each_name_once_and_tools_alone() -> None:
    one, other = (tool("same", determinism="deterministic")(good) for _ in range(2))

    assert len(Registry([one, one])) == 1
    for wrong in ([one, other], [good]):
        with pytest.raises(RegistryRefused):
            Registry(wrong)  # type: ignore[arg-type]


# -- fingerprints --------------------------------------------------------------------------------


def counter(annotation: Any = int, default: int = 1, returns: Any = int) -> Callable[..., Any]:
    def count(n: int = 1) -> int:
        """Count."""
        return n

    count.__annotations__ |= {"n": annotation, "return": returns}
    count.__defaults__ = (default,)
    return count


def other_source(n: int = 1) -> int:
    """Count."""
    return n + 0


def made(function: Callable[..., Any], **more: Any) -> Tool:
    return tool("count", **{"determinism": "deterministic", "version": "1", **more})(function)


def test_whatever_a_caller_relies_on_changes_the_fingerprint() -> None:
    limited = Annotated[int, Field(ge=0)]
    others = (counter(default=2), counter(limited), counter(returns=float), other_source)
    options: list[dict[str, Any]] = [
        {"version": "2"},
        {"determinism": "nondeterministic"},
        {"determinism": "seeded"},
        {"needs": Needs(listing=True)},
        {"needs": Needs(backend=">=4.5")},
        {"tolerance": Abs(1e-9)},
        {"derives": "steps"},
        {"reads_only": True},
        {"seconds": 1},
    ]
    every = [*map(made, (counter(), *others)), *(made(counter(), **each) for each in options)]

    assert made(counter()).fingerprint == every[0].fingerprint
    for fingerprints in (
        [each.fingerprint for each in every],
        [Registry([each]).fingerprint for each in every],
    ):
        assert len(dict.fromkeys(fingerprints)) == len(every)


def test_the_order_of_tools_means_nothing_and_macros_have_a_fingerprint_of_their_own() -> None:
    every = list(tables)
    shuffled = Registry(random.Random(3).sample(every, len(every)))
    without = Registry([each for each in every if not each.is_macro])

    assert shuffled.fingerprint == tables.fingerprint
    assert shuffled.macro_fingerprint == tables.macro_fingerprint != without.macro_fingerprint


@pytest.mark.integration
@pytest.mark.parametrize("seed", ["0", "12345"])
def test_hash_seeds_mean_nothing(seed: str) -> None:
    """A process, because a hash seed is read when it starts."""
    code = "from table_tools import registry as r; print(r.fingerprint)"
    found = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert found.stdout.strip() == tables.fingerprint
