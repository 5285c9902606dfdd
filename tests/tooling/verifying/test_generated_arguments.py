"""Made arguments fit the schema that they are made from, and are the same every time."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from twice.tooling import Context, tool
from twice.tooling.adapters.scene.tools import TOOLS
from twice.tooling.tool import Tool
from twice.tooling.verifying.generating import NoExample, arguments_for


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


@pytest.mark.parametrize("each", [many, *TOOLS], ids=lambda each: each.name)
def test_what_is_made_is_read(each: Tool) -> None:
    made = arguments_for(each.parameters.schema)

    assert each.parameters.read(made).plain.keys() == {*each.parameters.names}
    assert made == arguments_for(each.parameters.schema)


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
        arguments_for({"properties": {"a": schema}, "required": ["a"], "$defs": known})
