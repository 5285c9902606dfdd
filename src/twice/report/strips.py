"""Strips over the ticks of a run: one row per name, darker where more happened.

Labels are HTML beside the picture, so they stay legible when the picture shrinks; each picture is an
SVG that stretches to the width there is.

Invariant: equal rows are drawn as equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from twice.report.comparison import Row, stretch_ticks
from twice.report.page import escape

_SHADES = 4


def figure(
    rows: Sequence[Row], ticks: int, *, mark: int | None = None, key: tuple[str, str] = ("", "")
) -> str:
    """Rows under each other, with an axis of ticks and a key.

    Args:
        rows: strips of equal length.
        ticks: of the run.
        mark: a tick to mark in every strip.
        key: what light and dark mean, in words.
    """
    if not rows or ticks < 1:
        return ""
    parts = [_strip(row, ticks, mark) for row in rows]
    middle = f"<span>tick {ticks // 2:,}</span>" if ticks > 2 else ""
    parts.append(
        '<div class="strip axis"><span class="name"></span><div class="picture ends">'
        f"<span>tick 0</span>{middle}<span>{ticks - 1:,}</span></div>"
        '<span class="count"></span></div>'
    )
    return "\n".join([*parts, _key(key, mark)])


def _strip(row: Row, ticks: int, mark: int | None) -> str:
    size = stretch_ticks(ticks)
    shades = [_shade(count, of) for count, of in zip(row.counts, row.of, strict=True)]
    boxes = "".join(
        f'<rect class="v{shade}" x="{first * size}" y="0" '
        f'width="{min((first + length) * size, ticks) - first * size}" height="1">'
        f"<title>{_stretch(first * size, min((first + length) * size, ticks) - 1)}: "
        f"{sum(row.counts[first : first + length]):,}</title></rect>"
        for first, length, shade in _runs(shades)
        if shade
    )
    if mark is not None:
        boxes += (
            f'<rect class="mark" x="{mark}" y="0" width="{max(ticks / 300, 0.02):.3f}" height="1">'
            f"<title>tick {mark:,}</title></rect>"
        )
    return (
        f'<div class="strip"><span class="name">{escape(row.name)}</span>'
        f'<div class="picture"><svg viewBox="0 0 {ticks} 1" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(row.name)}: {escape(row.total)}">{boxes}</svg></div>'
        f'<span class="count">{escape(row.total)}</span></div>'
    )


def _shade(count: int, of: int) -> int:
    """0 for nothing, 1 to 4 by quarters of what could be."""
    return 0 if count <= 0 else min(_SHADES, max(1, -(-_SHADES * count // max(of, 1))))


def _runs(shades: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Neighbours of one shade as one: first, how many, shade."""
    first = 0
    for at in range(1, len(shades) + 1):
        if at == len(shades) or shades[at] != shades[first]:
            yield first, at - first, shades[first]
            first = at


def _stretch(first: int, last: int) -> str:
    return f"tick {first:,}" if first == last else f"ticks {first:,} to {last:,}"


def _key(words: tuple[str, str], mark: int | None) -> str:
    items = [
        f'<span><svg viewBox="0 0 1 1" preserveAspectRatio="none">'
        f'<rect class="{kind}" width="1" height="1"/></svg>{escape(said)}</span>'
        for kind, said in (
            ("v1", words[0]),
            ("v4", words[1]),
            ("mark", "" if mark is None else f"the runs part, tick {mark:,}"),
        )
        if said
    ]
    return f'<div class="key">{"".join(items)}</div>' if items else ""
