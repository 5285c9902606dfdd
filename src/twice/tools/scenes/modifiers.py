"""Modifiers that may be added: a short list, each with its settings and their ranges.

Left out are those that draw numbers of their own, follow a cache from frame to frame, or answer
differently from process to process, such as the fast boolean.

Invariant: a modifier that is not in the list is never added, and a setting is never clamped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from twice.tools.errors import SceneArgumentRefused


@dataclass(frozen=True, slots=True)
class Setting:
    """A number that a modifier takes.

    Args:
        kind: ``int`` or ``float``.
        default: what it is when it is left out.
        least: the smallest allowed.
        most: the largest allowed.
    """

    kind: type[int | float]
    default: float
    least: float
    most: float


MODIFIERS: Final[Mapping[str, Mapping[str, Setting]]] = MappingProxyType(
    {
        "ARRAY": {
            "count": Setting(int, 2, 1, 1000),
            "x": Setting(float, 1.0, -1e6, 1e6),
            "y": Setting(float, 0.0, -1e6, 1e6),
            "z": Setting(float, 0.0, -1e6, 1e6),
        },
        "BEVEL": {"width": Setting(float, 0.1, 0.0, 1e6), "segments": Setting(int, 1, 1, 100)},
        "DECIMATE": {"ratio": Setting(float, 0.5, 0.0, 1.0)},
        "MIRROR": {"axis": Setting(int, 0, 0, 2)},
        "SOLIDIFY": {"thickness": Setting(float, 0.01, -1e6, 1e6)},
        "SUBSURF": {"levels": Setting(int, 1, 0, 6)},
        "TRIANGULATE": {},
        "WELD": {"distance": Setting(float, 0.001, 0.0, 1e6)},
    }
)


def settings(kind: str, given: Mapping[str, float]) -> dict[str, Any]:
    """Return the settings of a modifier, checked and complete.

    Raises:
        SceneArgumentRefused: E-SCENE-005, an unknown kind or setting, or a number out of range.
    """
    known = MODIFIERS.get(kind)
    if known is None:
        raise _refused(f"The modifier {kind!r} is not offered.", ", ".join(MODIFIERS))
    for name in given:
        if name not in known:
            raise _refused(f"{kind} has no setting {name!r}.", ", ".join(known) or "no settings")
    complete: dict[str, Any] = {}
    for name, setting in known.items():
        value = given.get(name, setting.default)
        whole = setting.kind is float or float(value).is_integer()
        if not (whole and setting.least <= value <= setting.most):
            number = "a whole number" if setting.kind is int else "a number"
            raise _refused(
                f"{kind} was given {name} = {value!r}.",
                f"{number} from {setting.least} to {setting.most}",
            )
        complete[name] = setting.kind(value)
    return complete


def _refused(happened: str, expected: str) -> SceneArgumentRefused:
    return SceneArgumentRefused(
        happened, f"Expected: {expected}.", "Change the settings and call modifier.add again."
    )
