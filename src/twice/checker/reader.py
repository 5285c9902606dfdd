"""How files are read: which API names count, which are banned, and whether values are followed.

Reading itself is done in ``looking``; this is what a cached answer depends on besides the file.

Invariant: two equal readers give equal findings for equal files.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from twice.foundation.severity import Severity

if TYPE_CHECKING:
    from twice.checker.catalogue import Catalogue
    from twice.checker.rules.engine import Index


@dataclass(frozen=True, slots=True)
class Ban:
    """A name that a project does not want to be used.

    Args:
        name: the qualified name, as it is imported: ``uuid.uuid4``.
        reason: why not, in the project's words.
        instead: what to use.
        severity: how badly it weighs.
    """

    name: str
    reason: str
    instead: str = ""
    severity: Severity = Severity.HIGH


@dataclass(frozen=True)
class Reader:
    """How files are read.

    Args:
        catalogues: further catalogues, as the text of TOML files, each with its name.
        allowed: names that are taken out of every group.
        bans: names that are not wanted.
        follows: whether values are followed to where they end.
    """

    catalogues: tuple[tuple[str, str], ...] = ()
    allowed: tuple[str, ...] = ()
    bans: tuple[Ban, ...] = field(default=())
    follows: bool = True

    @cached_property
    def catalogue(self) -> Catalogue:
        """The API names in force.

        Raises:
            ConfigError: E-CONFIG-001: a catalogue is none.
        """
        from twice.checker.catalogue import shipped
        from twice.checker.catalogue.own import extended

        return extended(shipped(), self.catalogues, self.allowed, self.bans)

    def index(self) -> Index:
        """Arrange the rules for this catalogue."""
        from twice.checker.banning import BANNED
        from twice.checker.rules.engine import every_rule, index

        rules = (*every_rule(), BANNED) if self.bans else every_rule()
        return index(rules, self.catalogue)

    @property
    def identity(self) -> str:
        """A text that tells readers, and the Python that parses for them, apart."""
        bans = [[each.name, each.reason, each.instead, each.severity] for each in self.bans]
        python = list(sys.version_info[:3])
        return json.dumps([python, self.catalogues, self.allowed, bans, self.follows])
