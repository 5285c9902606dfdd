"""The symbols of a record: numbers that stand for frame kinds, layouts and shapes of points.

A layout is a list of components, a shape a layout with a point's name. A names block says the new
numbers before the first block that uses them; the reader joins the lists of all names blocks.

Invariant: a number never changes its meaning within a record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from twice.errors import EncodingTextRefused
from twice.recorder.record.layout import MalformedError
from twice.recorder.record.payloads import decode_json


class SymbolWriter:
    """The symbols of a record that is being written, and which of them are in the file."""

    def __init__(self) -> None:
        self._kinds: dict[str, int] = {}
        self._layouts: dict[tuple[str, ...], int] = {}
        self._shapes: dict[tuple[int, str], int] = {}
        self._written = [0, 0, 0]

    def number_layout(self, components: Sequence[str]) -> int:
        """Return the number of a list of components."""
        names = tuple(_check_text(name) for name in components)
        return self._layouts.setdefault(names, len(self._layouts))

    def number_kind(self, word: str) -> int:
        """Return the number of a frame kind."""
        number = self._kinds.get(word)
        if number is None:
            number = self._kinds[_check_text(word)] = len(self._kinds)
            assert number < 1 << 16, "a record has few kinds of frames"
        return number

    def number_shapes(self, shapes: Sequence[tuple[int, str]]) -> list[int]:
        """Return the numbers of the shapes of many points."""
        known = self._shapes
        try:
            return [known[shape] for shape in shapes]
        except KeyError:
            for layout, name in shapes:
                known.setdefault((layout, _check_text(name)), len(known))
        return [known[shape] for shape in shapes]

    def take_new(self) -> dict[str, object] | None:
        """Take the content of the next names block; return None if nothing is new."""
        known: dict[str, Mapping[Any, int]] = {
            "kinds": self._kinds,
            "layouts": self._layouts,
            "shapes": self._shapes,
        }
        before, self._written = self._written, [len(each) for each in known.values()]
        if self._written == before:
            return None
        return {name: list(known[name])[at:] for name, at in zip(known, before, strict=True)}


def _check_text(word: str) -> str:
    try:
        word.encode()
    except UnicodeEncodeError as error:
        raise EncodingTextRefused(
            f"The name {word!r} holds a lone surrogate.",
            "Expected text that has a UTF-8 form.",
            "Give it another name.",
            name=word,
        ) from error
    return word


class Shape(NamedTuple):
    """The common part of all points of one shape."""

    name: str  # such as `tick`
    components: tuple[str, ...]  # whose digests they hold, in order


class SymbolTable:
    """The symbols of a record that is read, each at its number."""

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.shapes: list[Shape] = []
        self._layouts: list[tuple[str, ...]] = []

    def add(self, payload: bytes) -> None:
        """Add one names block."""
        document = decode_json(payload)
        if sorted(document) != ["kinds", "layouts", "shapes"]:
            raise MalformedError("a names block has other members than kinds, layouts and shapes")
        self.kinds += _check_texts(document["kinds"])
        self._layouts += [tuple(_check_texts(names)) for names in _check_list(document["layouts"])]
        for shape in _check_list(document["shapes"]):
            match shape:
                # `int(layout)` would also match true and false.
                case [layout, str(name)] if type(layout) is int:
                    if not 0 <= layout < len(self._layouts):
                        raise MalformedError("a shape has a layout that no names block says")
                    self.shapes.append(Shape(name, self._layouts[layout]))
                case _:
                    raise MalformedError("a shape is not a layout and a name")


def _check_list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise MalformedError("a names block has something else than a list")
    return value


def _check_texts(value: object) -> list[str]:
    texts = [text for text in _check_list(value) if isinstance(text, str)]
    if texts != value:
        raise MalformedError("a names block has something else than a name")
    return texts
