"""A declaration is complete and makes sense, or it is refused where it stands."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from pydantic import BaseModel, Field

from twice.tools import Context, Needs, Registry, Session, tool
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


def test_parameters_are_the_functions_but_for_the_context() -> None:
    assert paint.parameters.names == ("box", "count", "mode", "colour", "copy")


def test_defaults_enums_models_and_awkward_names_arrive_as_declared() -> None:
    found = call({"box": {"low": 0.0}, "colour": "blue"})

    assert found["result"] == {
        "high": 1.0, "count": 3, "mode": "fill", "colour": "blue", "copy": False
    }  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"box": {"low": 0.0}, "count": "3"},
        {"box": {"low": 0.0}, "count": 3.0},
        {"box": {"low": 0.0}, "count": True},
        {"box": {"low": 0.0}, "count": 0},
        {"box": {"low": 0.0}, "mode": "dot"},
        {"box": {"low": 0.0}, "colour": "green"},
        {"box": {"low": 0.0}, "copy": 1},
        {"box": {"low": "0"}},
        {"box": {"low": float("nan")}},
        {"box": {"low": float("inf")}},
        {"box": {"low": 0.0, "other": 1}},
        {"box": {"low": 0.0}, "other": 1},
        {"box": {"low": 0.0}, "ctx": {}},
        {"box": {"low": 0.0}, "seed": 1},
        {"box": {"low": 0.0}, "count": 2**60},
        {"box": {"low": 0.0}, "mode": "\ud800"},
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
    assert validator.is_valid({"box": {"low": 0.0}, "count": 9})
    assert not validator.is_valid({"box": {"low": 0.0}, "count": 10})
    assert not validator.is_valid({"box": {"low": 0.0}, "other": 1})
    assert schema["properties"]["count"]["default"] == 3


def test_the_description_is_the_documentation() -> None:
    assert paint.summary == "Paint a box."
    assert paint.description.endswith("More about it.")


def test_a_tool_is_still_the_function_for_its_own_tests() -> None:
    @tool("sum", determinism="deterministic")
    def add(a: int, b: int) -> int:
        return a + b

    assert add(1, b=2) == 3


def test_types_that_are_local_to_the_declaring_function_are_found() -> None:
    class Local(BaseModel):
        n: int

    @tool("local", determinism="deterministic")
    def local(value: Local) -> Local:
        return Local(n=value.n + 1)

    found = Session(Registry([local])).call("local", {"value": {"n": 1}})

    assert found["result"] == {"n": 2}


def declared(function: Callable[..., Any], **more: Any) -> None:
    tool("a.tool", **{"determinism": "deterministic", **more})(function)


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
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused(
    function: Callable[..., Any], more: dict[str, Any], words: str
) -> None:
    with pytest.raises(ToolRefused) as refused:
        declared(function, **more)

    assert words in refused.value.happened
    assert refused.value.remedy


@pytest.mark.parametrize("name", ["", "1a", "a..b", ".a", "a b", "a/b", "x" * 65, "é"])
def test_a_name_that_hosts_could_not_carry_is_refused(name: str) -> None:
    with pytest.raises(ToolRefused):
        tool(name, determinism="deterministic")(good)


def test_the_decorator_without_a_name_is_refused() -> None:
    with pytest.raises(ToolRefused):
        tool(good)  # type: ignore[arg-type]


@pytest.mark.parametrize("needs", [{"backend": "4.5"}, {"profile": {"a": "new"}}, {"ui": "yes"}])
def test_needs_that_cannot_be_read_are_refused(needs: dict[str, Any]) -> None:
    with pytest.raises(ToolRefused):
        Needs(**needs)


def test_a_registry_holds_each_name_once_and_tools_alone() -> None:
    one = tool("same", determinism="deterministic")(good)
    other = tool("same", determinism="deterministic")(good)

    assert len(Registry([one, one])) == 1
    with pytest.raises(RegistryRefused):
        Registry([one, other])
    with pytest.raises(RegistryRefused):
        Registry([good])  # type: ignore[list-item]
