"""Rules on versions: none of them floats, and every plugin that sounds has one.

Invariant: a bypassed plugin is not asked for its version, since it changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from twice.assets.gate.facts import Facts, value_of
from twice.assets.gate.row import Row
from twice.assets.log.io import escape
from twice.foundation.printable import pluralize

CHECKS: Final = {
    "version-pinned": "No version can mean another thing tomorrow.",
    "plugin-version": "Every plugin of the chain that is not bypassed has its version.",
}
_FLOATING: Final = re.compile(
    r"(?:^|[^a-z0-9])(?:latest|newest|current|recent|head|main|master|nightly|stable|rolling|edge|dev"
    r"|devel|snapshot|tip|trunk|or (?:later|newer|above)|and up|up to date)(?:$|[^a-z0-9])"
    r"|[*^<>≤≥]|^~|~=|[+]$|^[=]?[0-9.]*x$|^[^1-9a-z]*v?[0.]+(?:$|[^0-9.])|^[-\u2013\u2212]\s*[0-9]",
    re.IGNORECASE,
)
_DIGIT: Final = re.compile("[0-9]")


def floats(version: str) -> bool:
    """Whether a version names whatever is newest, a range, or nothing, as zeros and bare words do."""
    said = version.strip()
    return _DIGIT.search(said) is None or _FLOATING.search(said) is not None


def judge(facts: Facts) -> Iterator[Row]:
    """Judge one log; without a promise a floating version is no fault."""
    if not facts.log.deterministic:
        return
    named = list(_versions(facts))
    loose = [(at, version) for at, version in named if floats(version)]
    for at, version in loose:
        seen = f"{at} is {version!r}, which names no single version"
        yield facts.red(f"version-pinned:{at}", seen, f"set {at} to the version that rendered")
    if named and not loose:
        yield facts.green("version-pinned", f"{pluralize(len(named), 'version')}")
    yield from _plugins(facts)


def _versions(facts: Facts) -> Iterator[tuple[str, str]]:
    log = facts.log
    model, surroundings = value_of(log.model), value_of(log.environment)
    if model is not None:
        yield from _one("/model", model)
        yield from _each("/model/adapters", model.adapters)
    if log.art is not None:
        yield from _each("/art/post", log.art.post)
    if log.audio is not None:
        for name in ("source", "daw", "export"):
            yield from _one(f"/audio/{name}", value_of(getattr(log.audio, name)))
        yield from _each("/audio/chain", log.audio.chain)
    packages = value_of(surroundings.packages) if surroundings is not None else None
    for name, version in (packages or {}).items():
        yield f"/environment/packages/{escape(name)}", version


def _one(at: str, block: Any) -> Iterator[tuple[str, str]]:
    version = value_of(getattr(block, "version", None))
    if version is not None:
        yield f"{at}/version", version


def _each(at: str, blocks: Any) -> Iterator[tuple[str, str]]:
    for number, block in enumerate(value_of(blocks) or ()):
        yield from _one(f"{at}/{number}", block)


def _plugins(facts: Facts) -> Iterator[Row]:
    chain = value_of(facts.log.audio.chain) if facts.log.audio is not None else None
    if not chain:
        return
    lacking = [
        (at, each) for at, each in enumerate(chain) if each.version is None and not each.bypass
    ]
    for at, each in lacking:
        pointer = f"/audio/chain/{at}/version"
        fix = f"set {pointer} to the plugin's version, as the workstation shows it"
        yield facts.red(f"plugin-version:{pointer}", f"{each.name} has no version", fix)
    if not lacking:
        yield facts.green("plugin-version", f"{pluralize(len(chain), 'plugin')}")
