"""XML that a stranger wrote, as a tree within bounds, with entities refused.

A document with a DOCTYPE is refused whole, so no entity is ever declared and nothing outside is asked for.

Invariant: reading ends in time that grows with the text, and never with an error but ``XmlRefused``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NoReturn
from xml.parsers import expat

DEPTH_MAX: Final = 256
ELEMENTS_MAX: Final = 500_000
SKIPPED_MAX: Final = 8_000_000
TEXT_MAX: Final = 1 << 16
BYTES_MAX: Final = 256 << 20
TOKEN_MAX: Final = 4 << 20
"""A tag or comment longer than this: a parser that gets it in pieces reads it from its start each time."""


class XmlRefused(ValueError):
    """A text is not XML within the bounds; the message says why and on which line."""


@dataclass(slots=True)
class Element:
    """An element: its name, attributes, text, and the elements in it."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def get(self, name: str) -> str | None:
        """Give an attribute."""
        return self.attributes.get(name)

    def child(self, *path: str) -> Element | None:
        """Give the first element at a path of names."""
        found = self
        for name in path:
            inner = next((each for each in found.children if each.name == name), None)
            if inner is None:
                return None
            found = inner
        return found

    def said(self, *path: str) -> str | None:
        """Give the attribute ``Value`` or ``value`` of the element at a path."""
        found = self.child(*path)
        if found is None:
            return None
        value = found.get("Value")
        return found.get("value") if value is None else value

    def walk(self) -> Iterator[Element]:
        """Give this element and all in it, in the order of the document."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))


class _Builder:
    """Takes what the parser sees, and counts."""

    def __init__(self, parser: expat.XMLParserType, skipped: frozenset[str]) -> None:
        self.root: Element | None = None
        self._parser = parser
        self._open: list[Element] = []
        self._skipped = skipped
        self._elements = 0
        self._left_out = 0
        self._skipping = 0

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) + self._skipping >= DEPTH_MAX:
            self.refuse(f"it is nested deeper than {DEPTH_MAX}")
        if self._skipping or name in self._skipped:
            self._skipping += 1
            self._left_out += 1
            if self._left_out > SKIPPED_MAX:
                self.refuse(f"it holds more than {SKIPPED_MAX} elements")
            return
        self._elements += 1
        if self._elements > ELEMENTS_MAX:
            self.refuse(f"it holds more than {ELEMENTS_MAX} elements that are read")
        element = Element(name, attributes)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def end(self, _: str) -> None:
        if self._skipping:
            self._skipping -= 1
        else:
            self._open.pop()

    def say(self, text: str) -> None:
        if self._open and not self._skipping and len(self._open[-1].text) < TEXT_MAX:
            self._open[-1].text += text

    def refuse(self, why: str) -> NoReturn:
        raise XmlRefused(f"{why}, on line {self._parser.CurrentLineNumber}")

    def doctype(self, *_: object) -> NoReturn:
        self.refuse("it has a DOCTYPE, which could declare entities")


def tree(pieces: Iterable[bytes], *, skipped: Iterable[str] = ()) -> Element:
    """Read a document.

    Args:
        pieces: its bytes, in turn; reading stops at the first piece that is refused.
        skipped: names of elements that are left out with all that is in them.

    Raises:
        XmlRefused: it is no XML, has a DOCTYPE, or is beyond the bounds.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    builder = _Builder(parser, frozenset(skipped))
    parser.StartDoctypeDeclHandler = builder.doctype
    parser.EntityDeclHandler = builder.doctype
    parser.StartElementHandler = builder.begin
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.say
    size = 0
    try:
        for piece in pieces:
            size += len(piece)
            if size > BYTES_MAX:
                builder.refuse(f"it is longer than {BYTES_MAX >> 20} MiB")
            parser.Parse(piece, False)
            if size - parser.CurrentByteIndex > TOKEN_MAX + len(piece):
                builder.refuse(f"a tag is longer than {TOKEN_MAX >> 20} MiB")
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise XmlRefused(f"{expat.ErrorString(error.code)}, on line {error.lineno}") from None
    except (LookupError, ValueError) as error:  # An encoding that Python does not have.
        if isinstance(error, XmlRefused):
            raise
        raise XmlRefused(f"its encoding cannot be read: {error}") from None
    assert builder.root is not None, "a document that ends well has an element"
    return builder.root
