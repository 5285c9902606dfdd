"""How a value of a sheet moved from one version to the next.

Invariant: pure; a value that was not there is None.
"""

from __future__ import annotations

from collections.abc import Callable


def anyhow(before: object, after: object) -> bool:
    """Whatever way it moved."""
    del before, after
    return True


def grew(before: object, after: object) -> bool:
    """Whether everything that stood there still does, and something was added."""
    if not isinstance(after, list):
        # A text such as a description of generators: nobody can tell broader from narrower.
        return False
    return not _without(before, after) and bool(_without(after, before))


def cell(name: str, column: str) -> Callable[[object, object], bool]:
    """Give a test whether an item of a list of maps, known by one column, has another value in a second."""

    def moved(before: object, after: object) -> bool:
        then, now = _by(before, name), _by(after, name)
        return any(then[each].get(column) != now[each].get(column) for each in then if each in now)

    return moved


def gained(name: str) -> Callable[[object, object], bool]:
    """Give a test whether a list of maps has an item, known by one column, that it had not."""

    def moved(before: object, after: object) -> bool:
        return not _by(after, name).keys() <= _by(before, name).keys()

    return moved


def _by(value: object, name: str) -> dict[object, dict[str, object]]:
    rows = value if isinstance(value, list) else []
    return {row.get(name): row for row in rows if isinstance(row, dict)}


def _without(these: object, those: object) -> list[object]:
    left = list(those) if isinstance(those, list) else []
    lost: list[object] = []
    for each in these if isinstance(these, list) else []:
        if each in left:
            left.remove(each)
        else:
            lost.append(each)
    return lost
