"""Words that occur often in a record, and the numbers that stand for them.

For the writer: frame kinds, layouts (lists of components) and shapes (a layout with a point's
name) get numbers in the order they are met. A names block says the new ones before the first block
that uses them; the reader appends its lists to those of the names blocks before.

Invariant: a number never changes its meaning within a record.
"""

from __future__ import annotations

from collections.abc import Sequence

from twice.errors import EncodingTextRefused

Shape = tuple[int, str]


class Names:
    """The words of one record and which of them have been written."""

    def __init__(self) -> None:
        self.layouts: dict[tuple[str, ...], int] = {}
        self._kinds: dict[str, int] = {}
        self._shapes: dict[Shape, int] = {}
        self._said = (0, 0, 0)

    def layout(self, components: Sequence[str]) -> int:
        """Return the number of a list of components.

        Raises:
            EncodingTextRefused: E-ENCODE-003, when a name has no UTF-8 form.
        """
        names = tuple(_text(name) for name in components)
        return self.layouts.setdefault(names, len(self.layouts))

    def kind(self, word: str) -> int:
        """Return the number of a frame kind.

        Raises:
            EncodingTextRefused: E-ENCODE-003, when it has no UTF-8 form.
        """
        number = self._kinds.get(word)
        if number is None:
            number = self._kinds[_text(word)] = len(self._kinds)
            assert number < 1 << 16, "a record has few kinds of frames"
        return number

    def shape_numbers(self, shapes: Sequence[Shape]) -> list[int]:
        """Return the numbers of the shapes of many points.

        Raises:
            EncodingTextRefused: E-ENCODE-003, when a point's name has no UTF-8 form.
        """
        known = self._shapes
        try:
            return [known[shape] for shape in shapes]
        except KeyError:
            for layout, name in shapes:
                known.setdefault((layout, _text(name)), len(known))
        return [known[shape] for shape in shapes]

    def take_new(self) -> dict[str, object] | None:
        """Take the content of the next names block; return None if nothing is new."""
        kinds, layouts, shapes = self._said
        now = (len(self._kinds), len(self.layouts), len(self._shapes))
        if now == self._said:
            return None
        self._said = now
        return {
            "kinds": list(self._kinds)[kinds:],
            "layouts": [list(names) for names in list(self.layouts)[layouts:]],
            "shapes": [list(shape) for shape in list(self._shapes)[shapes:]],
        }


def _text(word: str) -> str:
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
