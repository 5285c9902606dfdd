"""What tools ask of a scene. Two kinds answer: one in memory, and Blender.

Every operation is by name and by data, never by selection, cursor or mode. What a kind cannot do,
or not reproducibly, it refuses with SceneUnable.

Invariant: an operation that raises has changed nothing that its caller's rollback does not undo.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from twice.tools.backend import Backend
from twice.tools.scenes.meshes import MeshData
from twice.tools.scenes.pixels import Pixels
from twice.tools.scenes.state import SceneState
from twice.tools.scenes.transforms import Transform, Triple

Operation = Literal["UNION", "DIFFERENCE", "INTERSECT"]
LightKind = Literal["POINT", "SUN", "SPOT"]
CameraKind = Literal["PERSP", "ORTHO"]


@dataclass(frozen=True, slots=True)
class Surface:
    """How a material looks: colour in linear light, each number in [0, 1]."""

    color: Triple = (0.8, 0.8, 0.8)
    metallic: float = 0.0
    roughness: float = 0.5


@dataclass(frozen=True, slots=True)
class Lens:
    """A camera: focal length in mm, or the width of what an orthographic one sees."""

    kind: CameraKind = "PERSP"
    lens: float = 50.0
    ortho_scale: float = 6.0
    clip_start: float = 0.1
    clip_end: float = 1000.0


@dataclass(frozen=True, slots=True)
class Lamp:
    """A light: energy in W (of the sun in W/m²), colour in linear light."""

    kind: LightKind = "POINT"
    energy: float = 100.0
    color: Triple = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture to be made.

    Args:
        camera: name of the camera's object.
        width: in pixels.
        height: in pixels.
        samples: light paths per pixel, where the renderer draws any.
        seed: of those paths, from 0 to 2**31 - 1.
    """

    camera: str
    width: int
    height: int
    samples: int
    seed: int


@runtime_checkable
class Scene(Backend, Protocol):
    """A scene that tools act on."""

    @property
    def folder(self) -> Path:
        """Where files of the session lie."""

    def put(self, name: str, data: bytes) -> None:
        """Write a file in that folder."""

    def snapshot(self, *, evaluated: bool = False) -> SceneState:
        """Everything that the scene holds; with geometry after modifiers when asked."""

    def create_empty(self, name: str) -> None:
        """Create an object without data, at the origin."""

    def create_mesh(self, name: str, mesh: MeshData) -> None:
        """Create a mesh and an object of one name, at the origin."""

    def create_instance(self, name: str, of: str) -> None:
        """Create an object that shares the data of another."""

    def create_camera(self, name: str, lens: Lens) -> None:
        """Create a camera; the first one becomes the scene's."""

    def create_light(self, name: str, lamp: Lamp) -> None:
        """Create a light at the origin."""

    def delete_object(self, name: str) -> None:
        """Remove an object, and its data if nothing else uses it; its children stay, unparented."""

    def transform(self, name: str, change: Transform) -> None:
        """Move an object."""

    def set_parent(self, name: str, parent: str | None) -> None:
        """Hangs an object under another, or under none; where it stands is now relative to it."""

    def create_collection(self, name: str, parent: str | None) -> None:
        """Create an empty collection under another, or under the scene's own."""

    def link(self, name: str, collection: str) -> None:
        """Put an object into a collection, and leave it in its others."""

    def read_mesh(self, name: str, *, evaluated: bool = False) -> MeshData:
        """Return the mesh of an object, in its own space."""

    def replace_mesh(self, name: str, mesh: MeshData) -> None:
        """Change the shape of an object's mesh; materials, modifiers and place stay."""

    def boolean(self, name: str, other: str, operation: Operation) -> MeshData:
        """Combine two objects' meshes in the space of the first; change nothing."""

    def add_modifier(self, name: str, modifier: str, kind: str, given: Mapping[str, Any]) -> None:
        """Add a modifier of ``modifiers.MODIFIERS`` at the end of an object's list."""

    def create_material(self, name: str, surface: Surface) -> None:
        """Create a material."""

    def assign_material(self, name: str, material: str) -> None:
        """Make a material the only one of an object's data."""

    def render(self, shot: Shot) -> Pixels:
        """Render a picture, without changing anything in the scene."""

    def save(self, path: Path) -> None:
        """Write the scene to a file."""

    def load(self, path: Path) -> None:
        """Load a scene from a file, without running any script in it."""

    def object_names(self) -> Sequence[str]:
        """Return the names of all objects, by code point."""
