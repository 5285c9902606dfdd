"""scene-state-1: everything that a scene holds, as values, with a tree of digests over it.

A state is sections, a section is blocks in the order of (type, name, id), a block is a dict of
values. Bytes come from the canonical form and sha256; docs/format/scene-state-1.md is the whole
rule, and tests/vectors/scene-state.json holds known answers. ``foundation.merkle`` names the parts
of a value by another form; these fingerprints stand in people's files.

Numbers of 32 bits are the shortest decimal that reads back to the same bits. A property that was
set to 0.1 holds 0.10000000149011612 and is the value 0.1: what people set is what a state says, and
equal bits are equal text. Rounding is not tolerance: that is the business of ``difference``.

Invariant: no fingerprint depends on the order in which blocks were made, found or handed over, and
two numbers of one width give one value exactly when their bits are equal, but for the sign of zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from twice.foundation.digests import Algorithm, raw_digest
from twice.foundation.encoding import encode
from twice.foundation.encoding import format as fmt
from twice.foundation.with_blocks import gc_paused
from twice.tools.errors import SceneValueRefused

FORMAT: Final = "scene-state-1"
ALGORITHM: Final = Algorithm.SHA256
_PREFIX: Final = f"{ALGORITHM}:"
_digest: Final = raw_digest(ALGORITHM)
SETTINGS: Final = "settings"
"""The property under which a block keeps what only its own program knows; hashed on its own."""

Array: TypeAlias = "NDArray[Any]"
Value: TypeAlias = Any
"""None, bool, int, float, str, an array of ``DTYPES``, or a list or text-keyed dict of values."""

DTYPES: Final = ("<f4", "<f8", "<i4", "<i8", "|i1", "|u1", "|b1")
"""The element types that an array in a state may have."""

CORE: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "cameras": ("kind", "lens", "clip_start", "clip_end"),
        "collections": ("objects", "children"),
        "evaluated": ("positions", "edges", "corners", "face_starts", "face_materials"),
        "lights": ("kind", "energy", "color"),
        "meshes": ("positions", "edges", "corners", "face_starts", "face_materials", "materials"),
        "objects": (
            "data", "parent", "location", "rotation_mode", "rotation", "scale", "matrix_world",
            "hide_render",
        ),
    }
)  # fmt: skip
"""The properties whose meaning no version of any program has changed.

Everything else that a program keeps stands under ``settings`` of a block and may come and go from
version to version. The list only grows with a new number of the format.
"""


@dataclass(slots=True)
class Block:
    """One thing in a scene; never changed once it is made.

    Args:
        type: what it is, in the words of its section: ``MESH``, ``POINT``.
        name: its own name.
        id: where it comes from when it is not the scene's own, such as the path of a library; else
            empty. Never a number that counts.
        value: its properties.

    Attributes:
        key: what blocks are sorted and told apart by.
        label: the labelled digest of the value; empty until that of its section is asked for.
        row: the canonical form of the list of type, name, id and label; empty until then.
    """

    type: str
    name: str
    id: str
    value: Mapping[str, Value]
    key: tuple[str, str, str] = field(init=False, compare=False, repr=False)
    label: str = field(default="", init=False, compare=False, repr=False)
    row: bytes = field(default=b"", init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        self.key = (self.type, self.name, self.id)


class Section:
    """The blocks of one kind in order, and their digests, each made once and when it is asked for.

    A scene hands one section to state after state, until something in it changes.

    Args:
        name: of the section.
        blocks: in any order; no two of one type, name and id.
    """

    def __init__(self, name: str, blocks: Iterable[Block]) -> None:
        self.name = name
        self.blocks = tuple(sorted(blocks, key=attrgetter("key")))

    @cached_property
    def label(self) -> str:
        """The labelled digest of all blocks."""
        known: dict[int, str] = {}  # of settings, by identity: blocks of equal settings share them
        for block in self.blocks:
            if block.row:
                continue
            value = dict(block.value)
            if SETTINGS in value:
                settings = value[SETTINGS]
                if id(settings) not in known:
                    known[id(settings)] = _label(settings)
                value[SETTINGS] = known[id(settings)]
            block.label = _label(value)
            block.row = encode([*block.key, block.label])
        # The form of the list of all rows, of which most are those of the state before.
        head = fmt.pack_count(fmt.LIST, len(self.blocks))
        return _name_digest(head + b"".join([block.row for block in self.blocks]))

    @cached_property
    def core_label(self) -> str:
        """The labelled digest of the properties in ``CORE``."""
        kept = CORE[self.name]
        return _label(
            [
                [*block.key, _label({k: block.value[k] for k in kept if k in block.value})]
                for block in self.blocks
            ]
        )


@dataclass(frozen=True)
class SceneState:
    """What a scene holds at one moment; made by ``scene_state``.

    Args:
        profile: the factors of full results apart from the scene, by a stable key.
        sections: by name.
    """

    profile: Mapping[str, str]
    sections: Mapping[str, Section]

    @cached_property
    def fingerprint(self) -> str:
        """The labelled digest of everything, bound to the profile."""
        with gc_paused():
            labels = {name: section.label for name, section in self.sections.items()}
        profile = dict(self.profile)
        return _label({"format": FORMAT, "kind": "full", "profile": profile, "sections": labels})

    @cached_property
    def core_fingerprint(self) -> str:
        """The labelled digest of the properties that every version and kind of scene has."""
        labels = {name: (self.sections.get(name) or Section(name, ())).core_label for name in CORE}
        return _label({"format": FORMAT, "kind": "core", "sections": labels})

    def block(self, section: str, name: str) -> Block | None:
        """Return the scene's own block of this name, if there is one."""
        for block in self.sections[section].blocks:
            if block.name == name and not block.id:
                return block
        return None


def scene_state(profile: Mapping[str, str], sections: Mapping[str, Iterable[Block]]) -> SceneState:
    """Build a state from blocks in any order; the section ``evaluated`` only on request."""
    return SceneState(profile, {name: Section(name, sections[name]) for name in sorted(sections)})


def _label(value: Value) -> str:
    return _name_digest(encode(value))


def _name_digest(data: bytes) -> str:
    """As ``str(digest_bytes(data))``, which takes half of the time that a small block takes."""
    return _PREFIX + _digest(data).hex()


@lru_cache(maxsize=1 << 16)
def float32(value: float) -> float:
    """Round a value to the canonical number of a 32-bit property.

    Args:
        value: any finite number within the range of 32 bits; it is rounded to them first.

    Returns:
        The double nearest to the shortest decimal that reads back to those bits; never ``-0.0``.

    Raises:
        SceneValueRefused: E-SCENE-001, the value is not finite at 32 bits.
    """
    with np.errstate(over="ignore"):
        narrow = np.float32(value)
    if not np.isfinite(narrow):
        raise _refuse_number(value, "a 32-bit number")
    return float(str(narrow)) + 0.0


def float64(value: float) -> float:
    """Return the canonical number of a 64-bit property's value.

    Raises:
        SceneValueRefused: E-SCENE-001, the value is not finite.
    """
    if value - value != 0:
        raise _refuse_number(value, "a number")
    return value + 0.0


def floats32(values: Iterable[float]) -> list[float]:
    """Round several numbers to those of a 32-bit property."""
    return [float32(x) for x in values]


def array(values: Any, dtype: str) -> Array:
    """Build an array of a state: little-endian, in C order, one zero, read-only.

    Raises:
        SceneValueRefused: E-SCENE-001, an element is not finite.
    """
    assert dtype in DTYPES, f"a state has no arrays of {dtype}"
    if type(values) is np.ndarray and values.dtype == dtype:
        built = values.copy(order="C")  # most arrays by far: no conversion to watch
    else:
        with np.errstate(over="ignore"):
            built = np.array(values, dtype=dtype, order="C")
    if dtype in ("<f4", "<f8"):
        finite = np.isfinite(built)
        if not finite.all():
            where = tuple(int(i) for i in np.argwhere(~finite)[0])
            raise _refuse_number(float(built[where]), "an array", f" at {list(where)}")
        built += 0.0  # -0.0 + 0.0 is 0.0
    built.flags.writeable = False
    return built


def _refuse_number(value: float, of: str, where: str = "") -> SceneValueRefused:
    return SceneValueRefused(
        f"{of.capitalize()} in the scene is {value!r}{where}.",
        "Expected finite numbers within the range of their property: others have no identity.",
        "Set it to a finite number, then ask again.",
        value=repr(value),
    )
