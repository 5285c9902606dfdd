"""The scene tools, written once, and what they take: what they do in memory, they do on Blender.

Invariant: a tool works by names and plain data, and has no other way to the scene than its
protocol; a value that fits its type fits 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

from pydantic import Field

from twice.tools.cases import Call, Case
from twice.tools.context import Context
from twice.tools.declaration import Tool, tool
from twice.tools.scenes.protocol import Scene

if TYPE_CHECKING:

    class SceneContext(Context):
        """The context of a scene tool: its backend is a scene."""

        backend: Scene

else:
    SceneContext = Context

STAGE: Final = (
    Call("mesh.primitive", {"kind": "cube", "name": "box"}),
    Call("mesh.primitive", {"kind": "plane", "name": "ground", "size": 4.0}),
    Call("material.create", {"name": "red", "color": [0.8, 0.1, 0.1]}),
    Call("collection.create", {"name": "props"}),
)
"""The start in which scene tools are tried: two meshes, a material, a collection."""

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


def scene_tool(
    name: str,
    case: Mapping[str, Any],
    *more: Call,
    seeded: bool = False,
    reads_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
) -> Callable[[Callable[..., Any]], Tool]:
    """Declare a scene tool, deterministic unless it is seeded, and the case that it is tried with.

    Args:
        name: dotted, such as ``object.create``.
        case: arguments on the stage.
        more: calls between the stage and the case.
        seeded: whether it draws numbers.
        reads_only: as in ``tool``.
        destructive: as in ``tool``.
        idempotent: as in ``tool``.
    """
    return tool(
        name,
        determinism="seeded" if seeded else "deterministic",
        version="1.0.0",
        reads_only=reads_only,
        destructive=destructive,
        idempotent=idempotent,
        cases=[Case(case, start=(*STAGE, *more))],
    )
