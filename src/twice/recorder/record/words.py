"""What the numbers in a record stand for: frame kinds, layouts, and shapes of points.

For the reader; `naming` is its other half. The lists of all names blocks are joined in file order.

Invariant: a number that is used means what the names block before it said.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from twice.foundation.dataclass import dataclass
from twice.recorder.record.payloads import MalformedError, decode_json


@dataclass(frozen=True, slots=True)
class Shape:
    """What points of one shape share.

    Attributes:
        name: such as ``tick``.
        components: whose digests they hold, in order.
    """

    name: str
    components: tuple[str, ...]


@dataclass(slots=True)
class Words:
    """The words of one record by their numbers."""

    kinds: list[str] = field(default_factory=list)
    layouts: list[tuple[str, ...]] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)

    def add(self, payload: bytes) -> None:
        """Take in one names block.

        Raises:
            MalformedError: when it is not one.
        """
        document = decode_json(payload)
        if sorted(document) != ["kinds", "layouts", "shapes"]:
            raise MalformedError("a names block has other members than kinds, layouts and shapes")
        self.kinds.extend(_texts(document["kinds"]))
        self.layouts.extend(tuple(_texts(names)) for names in _list(document["layouts"]))
        for shape in _list(document["shapes"]):
            layout, name = _pair(shape)
            if not 0 <= layout < len(self.layouts):
                raise MalformedError("a shape has a layout that no names block says")
            self.shapes.append(Shape(name, self.layouts[layout]))


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise MalformedError("a names block has something else than a list")
    return value


def _texts(value: object) -> Iterable[str]:
    for text in _list(value):
        if not isinstance(text, str):
            raise MalformedError("a names block has something else than a name")
        yield text


def _pair(value: object) -> tuple[int, str]:
    pair = _list(value)
    if len(pair) != 2 or type(pair[0]) is not int or not isinstance(pair[1], str):
        raise MalformedError("a shape is not a layout and a name")
    return pair[0], pair[1]
