"""A project's own names beside those that come with twice: added, allowed, banned.

Invariant: a name that is allowed is in no group, except when it is banned.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from twice.checker.catalogue import Catalogue, catalogue_of
from twice.errors import ConfigError

BANNED: Final = "banned"


def extended(
    base: Catalogue,
    texts: Sequence[tuple[str, str]],
    allowed: Sequence[str],
    bans: Sequence[str],
) -> Catalogue:
    """Give a catalogue with a project's own names.

    Args:
        base: what to start from.
        texts: TOML documents, each with its name.
        allowed: names to take out.
        bans: names to put into the group of banned ones.

    Raises:
        ConfigError: E-CONFIG-001: a document is no catalogue.
    """
    if not texts and not allowed and not bans:
        return base
    found = base.extended([_own(text, name, base) for name, text in texts], allowed)
    return found.extended([Catalogue({BANNED: dict.fromkeys(bans, "")}, {})], ())


def _own(text: str, name: str, base: Catalogue) -> Catalogue:
    """Parse a project's catalogue; refuse a group that no rule uses, as a slip of the pen."""
    found = catalogue_of(_parsed(text, name), name)
    known = {*base.groups, *base.methods}
    for group in (*found.groups, *found.methods):
        if group not in known:
            near = get_close_matches(group, sorted(known), 1)
            raise ConfigError(
                f"{name} has a group {group!r}, which no rule asks for.",
                f"Expected a group that comes with twice{f', such as {near[0]!r}' if near else ''}.",
                "Correct the name; the groups are those of twice/checker/catalogue/*.toml.",
            )
    return found


def _parsed(text: str, name: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(
            f"{name} is not TOML: {error}.",
            'Expected a catalogue: format = "twice.catalogue/1", then tables of names.',
            "Correct it, or take it out of the list of catalogues.",
        ) from error
