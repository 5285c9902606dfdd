"""Arguments of a macro's steps, written before there is anything to fill in.

A template is plain JSON with references in it: to the macro's parameters, and to the results of
earlier steps. It is data, not code: it has a canonical form, and so has the macro.

Invariant: filling a template reads the scope and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from twice.tools.context import entity_key
from twice.tools.errors import CallRefused, ToolRefused
from twice.tools.plain import NotPlain, canonical, plain


@dataclass(frozen=True)
class Ref:
    """What stands at a path: ``parameters.NAME`` or ``steps.STEP.KEY.0``, list places by number."""

    path: str

    @property
    def parts(self) -> list[str]:
        """The path's parts."""
        return self.path.split(".")


@dataclass(frozen=True, init=False)
class Gather:
    """Lists at several paths joined, in the canonical order of what is in them.

    Maps that have a ``type`` or a ``name`` are ordered as entities are: by type, name, id. Everything
    else by canonical form. The order of the steps that gave the lists means nothing.

    Args:
        *paths: of lists, as in ``Ref``.
    """

    paths: tuple[str, ...]

    def __init__(self, *paths: str) -> None:
        object.__setattr__(self, "paths", paths)


def fill(template: Any, scope: Mapping[str, Any]) -> Any:
    """Fill a template with the values of a scope.

    Raises:
        CallRefused: ``execution_failed``, when a path leads to nothing.
    """
    if isinstance(template, Ref):
        return _at(template.path, scope)
    if isinstance(template, Gather):
        joined: list[Any] = []
        for path in template.paths:
            found = _at(path, scope)
            if not isinstance(found, list):
                raise _nothing(path, f"a {type(found).__name__}, and no list")
            joined += found
        return sorted(joined, key=_canonical_key)
    if isinstance(template, dict):
        return {key: fill(each, scope) for key, each in template.items()}
    if isinstance(template, list | tuple):
        return [fill(each, scope) for each in template]
    return template


def document(template: Any) -> Any:
    """Write a template as plain JSON: ``{"$ref": path}`` or ``{"$gather": paths}``.

    Raises:
        ToolRefused: E-TOOL-001, for a literal that has no JSON form or looks like a reference.
    """
    if isinstance(template, Ref):
        return {"$ref": template.path}
    if isinstance(template, Gather):
        return {"$gather": list(template.paths)}
    if isinstance(template, dict):
        for key in template:
            if not isinstance(key, str) or key.startswith("$"):
                raise ToolRefused(
                    f"A template has the key {key!r:.80}.",
                    "Expected text that does not begin with $: that is how references are written.",
                    "Use Ref(path), or rename the key.",
                )
        return {key: document(each) for key, each in template.items()}
    if isinstance(template, list | tuple):
        return [document(each) for each in template]
    try:
        return plain(template)
    except NotPlain as error:
        raise ToolRefused(
            f"A template holds what has no JSON form: {error}.",
            "Expected plain JSON, Ref and Gather.",
            "Write the value as JSON.",
        ) from error


def paths_in(template: Any) -> Iterator[str]:
    """Every path that a template refers to."""
    if isinstance(template, Ref):
        yield template.path
    elif isinstance(template, Gather):
        yield from template.paths
    elif isinstance(template, dict):
        for each in template.values():
            yield from paths_in(each)
    elif isinstance(template, list | tuple):
        for each in template:
            yield from paths_in(each)


def _at(path: str, scope: Mapping[str, Any]) -> Any:
    found: Any = scope
    for part in path.split("."):
        if isinstance(found, Mapping) and part in found:
            found = found[part]
        elif isinstance(found, list) and part.isdecimal() and int(part) < len(found):
            found = found[int(part)]
        else:
            raise _nothing(path, f"nothing: there is no {part!r:.60}")
    return found


def _canonical_key(value: Any) -> tuple[tuple[str, str, str], bytes]:
    entity = isinstance(value, dict) and ("type" in value or "name" in value)
    return (entity_key(value) if entity else ("", "", ""), canonical(value))


def _nothing(path: str, what: str) -> CallRefused:
    return CallRefused(
        "execution_failed",
        f"At {path} in the macro's scope there is {what}.",
        "Expected what the template refers to.",
        "This is a mistake in the macro: tell its author.",
        reference=path,
    )
