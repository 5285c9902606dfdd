"""What the scene tools take: names, numbers and places with their ranges.

Invariant: a value that fits its type fits 32 bits.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from pydantic import Field

from twice.tools.cases import Call, Case
from twice.tools.context import Context

STAGE: Final = (
    Call("mesh.primitive", {"kind": "cube", "name": "box"}),
    Call("mesh.primitive", {"kind": "plane", "name": "ground", "size": 4.0}),
    Call("material.create", {"name": "red", "color": [0.8, 0.1, 0.1]}),
    Call("collection.create", {"name": "props"}),
)
"""The start in which most scene tools are tried: two meshes, a material, a collection."""

Name: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=63, description="a name; at most 63 bytes of UTF-8")
]
File: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=200, description="a file in the session's folder")
]
Number: TypeAlias = Annotated[float, Field(ge=-1e6, le=1e6)]
Size: TypeAlias = Annotated[float, Field(gt=0, le=1e6)]
Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Point: TypeAlias = tuple[Number, Number, Number]
Color: TypeAlias = tuple[Share, Share, Share]


def chosen(context: Context, name: str | None, prefix: str) -> str:
    """Return the given name, or one made from the parameters.

    Raises:
        CallRefused: ``conflict``, when the name made is taken.
    """
    return context.name(prefix) if name is None else name


def on_stage(*more: Call, **arguments: object) -> list[Case]:
    """One case: these arguments on the stage, after some more calls."""
    return [Case(arguments, start=(*STAGE, *more))]
