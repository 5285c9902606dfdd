"""What tools ask of a scene, and what every kind of scene refuses alike.

Two kinds answer: one in memory, and Blender. Every operation is by name and by data, never by
selection, cursor or mode. What a kind cannot do, or not reproducibly, it refuses with SceneUnable.

Programs shorten long names and number taken ones without a word. Here a name fits every one of
them or is refused, and what was assigned is read back.

Invariant: an operation that raises has changed nothing that its caller's rollback does not undo,
and a thing has the name that was asked for, or was not made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol

from twice.foundation.digests import digest_value
from twice.foundation.printable import pluralize
from twice.tools.backend import Backend
from twice.tools.context import NAME_BYTES_MAX
from twice.tools.errors import SceneArgumentRefused, SceneNameTaken, SceneNotFound
from twice.tools.scenes.folder import make_private_folder, resolve_inside
from twice.tools.scenes.mesh import MeshData
from twice.tools.scenes.state import ALGORITHM, Array, SceneState
from twice.tools.scenes.state_file import to_plain

Triple = tuple[float, float, float]
Change = Triple | None  # a new value, or None to leave the old one
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
    """A picture to be made: its size in pixels, light paths per pixel, and their seed of 31 bits."""

    camera: str
    width: int
    height: int
    samples: int
    seed: int


class Scene(Backend, Protocol):
    """A scene that tools act on, and its files: in one folder, made when it is first needed.

    Args:
        folder: where they lie; a private temporary folder when None.
    """

    _folder: Path | None

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    @property
    def folder(self) -> Path:
        """Where files of the session lie."""
        if self._folder is None:
            self._folder = make_private_folder()
        return self._folder

    def path(self, name: str) -> Path:
        """Return where a file of this name lies; see ``resolve_inside`` for what is refused."""
        return resolve_inside(self.folder, name)

    def state(self) -> Mapping[str, Any]:
        """Return the whole state as plain data."""
        return to_plain(self.snapshot())

    def fingerprint(self) -> str:
        """Return the full fingerprint of the state, bound to the profile."""
        return self.snapshot().fingerprint

    def snapshot(self, *, evaluated: bool = False) -> SceneState:
        """Everything that the scene holds; with geometry after modifiers when asked."""

    def create_object(self, name: str, data: MeshData | Lens | Lamp | None) -> None:
        """Create an object at the origin, with data of its name; the first camera is the scene's."""

    def create_instance(self, name: str, of: str) -> None:
        """Create an object that shares the data of another."""

    def delete_object(self, name: str) -> None:
        """Remove an object, and its data if nothing else uses it; its children stay, unparented."""

    def transform(
        self, name: str, location: Change = None, rotation: Change = None, scale: Change = None
    ) -> None:
        """Place an object; what is None stays.

        Args:
            name: of the object.
            location: in units of the scene, relative to the parent.
            rotation: Euler angles in radians, about X, then Y, then Z.
            scale: along the object's own axes.
        """

    def set_parent(self, name: str, parent: str | None) -> None:
        """Hang an object under another, or under none; where it stands is now relative to it."""

    def create_collection(self, name: str, parent: str | None) -> None:
        """Create an empty collection under another, or under the scene's own."""

    def link(self, name: str, collection: str) -> None:
        """Put an object into a collection, and leave it in its others."""

    def read_mesh(self, name: str) -> MeshData:
        """Return the mesh of an object, in its own space, before its modifiers."""

    def replace_mesh(self, name: str, mesh: MeshData) -> None:
        """Change the shape of an object's mesh; materials, modifiers and place stay."""

    def boolean(self, name: str, other: str, operation: Operation) -> MeshData:
        """Combine two objects' meshes in the space of the first; change nothing."""

    def add_modifier(self, name: str, modifier: str, kind: str, given: Mapping[str, Any]) -> None:
        """Add a modifier of ``MODIFIERS`` at the end of an object's list."""

    def create_material(self, name: str, surface: Surface) -> None:
        """Create a material."""

    def assign_material(self, name: str, material: str) -> None:
        """Make a material the only one of an object's data."""

    def render(self, shot: Shot) -> Array:
        """Render a picture as ``digest_pixels`` takes it, without changing anything in the scene."""

    def save(self, path: Path) -> None:
        """Write the scene to a file."""

    def load(self, path: Path) -> None:
        """Load a scene from a file, without running any script in it."""

    def object_names(self) -> Sequence[str]:
        """Return the names of all objects, by code point."""


_FAR: Final = 1e6
# For each modifier its settings: default, least, most. A whole default takes whole numbers alone.
# Left out are those that draw numbers of their own, follow a cache from frame to frame, or answer
# differently from process to process, such as the fast boolean.
MODIFIERS: Final[Mapping[str, Mapping[str, tuple[float, float, float]]]] = MappingProxyType({
    "ARRAY": {
        "count": (2, 1, 1000), "x": (1.0, -_FAR, _FAR), "y": (0.0, -_FAR, _FAR), "z": (0.0, -_FAR, _FAR),
    },
    "BEVEL": {"width": (0.1, 0.0, _FAR), "segments": (1, 1, 100)},
    "DECIMATE": {"ratio": (0.5, 0.0, 1.0)},
    "MIRROR": {"axis": (0, 0, 2)},
    "SOLIDIFY": {"thickness": (0.01, -_FAR, _FAR)},
    "SUBSURF": {"levels": (1, 0, 6)},
    "TRIANGULATE": {},
    "WELD": {"distance": (0.001, 0.0, _FAR)},
})  # fmt: skip


def digest_pixels(values: Array) -> str:
    """Return the labelled digest of a picture; files of pictures carry times and are never compared.

    Args:
        values: float32, height by width by 4: rows from the bottom up, each from left to right, of
            red, green, blue and alpha in linear light.
    """
    height, width, _ = values.shape
    head = {"format": "pixels-1", "width": width, "height": height}
    order = {"channels": "RGBA", "rows": "bottom-up"}
    return str(digest_value({**head, **order, "values": values}, ALGORITHM))


def check_name(name: str) -> str:
    """Return the name, if every kind of scene keeps it unchanged.

    Raises:
        SceneArgumentRefused: E-SCENE-005, empty, longer than 63 bytes, or with characters that
            cannot be printed or written.
    """
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        size = 0
    if 1 <= size <= NAME_BYTES_MAX and name.isprintable() and name == name.strip():
        return name
    raise SceneArgumentRefused(
        f"The name {name[:80]!r} has {pluralize(size, 'byte')} in UTF-8, or characters that do not stay.",
        f"A name has 1 to {NAME_BYTES_MAX} bytes of printable text, without spaces at its ends.",
        "Give a shorter, printable name.",
        name=name[:80],
    )


def complete_settings(kind: str, given: Mapping[str, float]) -> dict[str, int | float]:
    """Return the settings of a modifier, checked, never clamped, and complete.

    Raises:
        SceneArgumentRefused: E-SCENE-005, an unknown kind or setting, or a number out of range.
    """
    known, remedy = MODIFIERS.get(kind), "Change the settings and call modifier.add again."
    if known is None or given.keys() - known.keys():
        offered = [f"{each} ({', '.join(MODIFIERS[each]) or 'nothing'})" for each in MODIFIERS]
        happened = f"{kind!r} was given {', '.join(given) or 'nothing'}."
        raise SceneArgumentRefused(happened, f"Expected one of {', '.join(offered)}.", remedy)
    complete: dict[str, int | float] = {}
    for name, (default, least, most) in known.items():
        value, whole = given.get(name, default), isinstance(default, int)
        if not least <= value <= most or (whole and not float(value).is_integer()):
            number = f"a {'whole ' if whole else ''}number from {least} to {most}"
            happened = f"{kind} was given {name} = {value!r}."
            raise SceneArgumentRefused(happened, f"Expected {number}.", remedy)
        complete[name] = int(value) if whole else float(value)
    return complete


def name_taken(name: str, what: str) -> SceneNameTaken:
    """Build the refusal of a name that is taken."""
    return SceneNameTaken(
        f"The name {name!r} is taken by {what}.",
        "Expected a name that nothing in the scene has; none is numbered or changed for you.",
        "Choose another name, or delete what has this one with object.delete.",
        name=name,
    )


def not_found(kind: str, name: str) -> SceneNotFound:
    """Build the refusal of a missing thing."""
    return SceneNotFound(
        f"There is no {kind} named {name!r}.",
        f"Expected the name of a {kind} in the scene, letter by letter.",
        "List what there is: twice tools call REGISTRY scene.snapshot",
        kind=kind,
        name=name,
    )


def not_a_mesh(name: str, kind: str) -> SceneArgumentRefused:
    """Build the refusal of an object of another type."""
    return SceneArgumentRefused(
        f"{name!r} is of type {kind} and has no mesh.",
        "Expected an object of type MESH.",
        "Name another object, or make one with mesh.primitive.",
    )


def own_ancestor(name: str) -> SceneArgumentRefused:
    """Build the refusal of a parent that is the object itself, or below it."""
    return SceneArgumentRefused(
        f"{name!r} would hang under itself.",
        "Expected a parent that is not the object, nor below it.",
        "Unparent the other one first, or choose another parent.",
    )
