"""Secrets taken out of a log before it is written: keys of services, tokens, passwords in URLs and arguments.

What is found by name or by shape is blanked by stars, everywhere in the log. A voice id or a prompt is no secret by
its shape; what a studio wants to keep besides is for the studio to leave out.

Invariant: a document without secrets comes back equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from twice.assets.log.io import escape
from twice.recorder.redaction.fields import is_secret
from twice.recorder.redaction.redaction import Redaction

_TABLES: Final = frozenset({"env", "settings", "args", "presets"})
"""Where names are chosen by programs, so that a name may say that its value is secret."""


def blank_secrets(
    document: Mapping[str, Any], variables: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Blank the secrets of a log.

    Args:
        document: a log, of a shape that was examined.
        variables: the environment whose secrets are known, such as that of this process.

    Returns:
        The document, and JSON pointers of what was blanked.
    """
    redaction = Redaction(variables=variables)
    for name, value in _named(document):
        if is_secret(name) and isinstance(value, str):
            redaction.learn(value.encode("utf-8", "surrogatepass"), f"variable {name}")
    changed = dict(document)
    recipe = document.get("recipe")
    argv = recipe.get("argv") if isinstance(recipe, Mapping) else None
    if isinstance(recipe, Mapping) and isinstance(argv, list):
        changed["recipe"] = {**recipe, "argv": redaction.arguments(argv, "recipe")}
    taken: dict[str, Any] = redaction.value(changed, "log")
    before = dict(_texts(document, ""))
    return taken, [at for at, text in _texts(taken, "") if before.get(at) != text]


def _named(value: Any, table: str = "") -> Iterator[tuple[str, Any]]:
    """Each pair of the tables whose names programs choose."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            if table in _TABLES:
                yield str(name), part
            yield from _named(part, str(name))
    elif isinstance(value, list):
        for part in value:
            yield from _named(part)


def _texts(value: Any, at: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from _texts(part, f"{at}/{escape(str(name))}")
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _texts(part, f"{at}/{number}")
