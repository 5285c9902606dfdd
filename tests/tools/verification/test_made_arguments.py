"""Made arguments fit the schema that they are made from, and are the same every time."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from twice.tools import Context, tool
from twice.tools.declaration import Tool
from twice.tools.scenes import TOOLS
from twice.tools.verification.cases import NoExample, list_arguments


class Inner(BaseModel):
    """A nested parameter."""

    share: Annotated[float, Field(gt=0, lt=1)]
    kind: Literal["one", "other"]
    more: list[int] | None = None


@tool("many", determinism="seeded")
def many(
    inner: Inner,
    even: Annotated[int, Field(multiple_of=4, ge=5)],
    pair: tuple[int, str],
    several: Annotated[list[float], Field(min_length=3)],
    by_name: dict[str, int],
    context: Context,
    flag: bool = False,
) -> None:
    """Take many kinds of parameters."""


class Book(BaseModel):
    """An element with a name."""

    title: str


@tool("shelve", determinism="deterministic")
def shelve(
    titles: list[str],
    note: str,
    books: list[Book],
    by_name: dict[str, int],
    few: Annotated[list[str], Field(max_length=3)],
    kinds: set[Literal["new", "used"]],
    grades: list[Annotated[int, Field(ge=2, le=5)]],
) -> None:
    """Take what hides a set."""


@pytest.mark.parametrize("each", [many, shelve, *TOOLS], ids=lambda each: each.name)
def test_what_is_made_is_read(each: Tool) -> None:
    made = [*list_arguments(each.parameters.schema)]

    for arguments in made:
        assert each.parameters.read(arguments).plain.keys() == {*each.parameters.names}
    assert made == [*list_arguments(each.parameters.schema)]


def test_the_full_example_has_different_elements_and_several_words() -> None:
    _, full = list_arguments(shelve.parameters.schema)

    assert len(set(full["titles"])) == 8
    assert len(full["note"].split()) == 8
    assert len({book["title"] for book in full["books"]}) == 8
    assert len(full["by_name"]) == 8
    assert full["few"] == ["ash", "birch", "cedar"]
    assert sorted(full["kinds"]) == ["new", "used"]
    assert set(full["grades"]) == {3, 4, 5}


def test_the_least_example_alone_where_a_full_one_cannot_be_made() -> None:
    free = {"type": "object", "additionalProperties": {"type": "string", "pattern": "^x$"}}
    assert [*list_arguments({"properties": {"a": free}, "required": ["a"]})] == [{"a": {}}]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^x$"},
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"$ref": "#/$defs/Self"},
    ],
)
def test_what_cannot_be_made_is_said(schema: dict[str, Any]) -> None:
    known = {"Self": {"$ref": "#/$defs/Self"}}
    with pytest.raises(NoExample):
        next(list_arguments({"properties": {"a": schema}, "required": ["a"], "$defs": known}))
