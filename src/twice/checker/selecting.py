"""Which rules are looked with: those that were selected, less those that are ignored, file by file.

Invariant: what the checker says of its own work is always selected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from twice.checker.findings import Finding
from twice.checker.housekeeping import HOUSEKEEPING_NAMES
from twice.checker.policy import Policy
from twice.checker.reading import matches
from twice.checker.rule import RuleFacts
from twice.errors import ConfigError
from twice.foundation.channels import Channel


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rules are looked with; a channel's name stands for all its rules.

    Args:
        select: these only; all when empty.
        ignore: not these.
        per_file: not these in files of a pattern, seen from the project's folder.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def require_known(self, rules: Mapping[str, RuleFacts]) -> None:
        """Refuse names that are neither a rule nor a channel.

        Raises:
            ConfigError: E-CONFIG-001.
        """
        named = [
            *self.select,
            *self.ignore,
            *(one for its in self.per_file.values() for one in its),
        ]
        for each in named:
            if each not in rules and each not in [*Channel]:
                raise ConfigError(
                    f"There is no rule {each!r}.",
                    f"Expected the name of a rule, or a channel: {', '.join(Channel)}.",
                    "See: twice check --list",
                    rule=each,
                )

    def rules(self, rules: Mapping[str, RuleFacts]) -> frozenset[str]:
        """Give the rules that are looked with in some file."""
        return frozenset(name for name, its in rules.items() if self._has(name, its.channel.value))

    def _has(self, name: str, channel: str) -> bool:
        if name in HOUSEKEEPING_NAMES:
            return True
        selected = not self.select or name in self.select or channel in self.select
        return selected and name not in self.ignore and channel not in self.ignore

    def selected(self, findings: Iterable[Finding], policy: Policy) -> list[Finding]:
        """Give the findings of the rules that are looked with."""
        if not self.select and not self.ignore and not self.per_file:
            return list(findings)
        return [
            each
            for each in findings
            if self._has(each.found.rule, each.channel) and not self._is_left_out(each, policy)
        ]

    def _is_left_out(self, finding: Finding, policy: Policy) -> bool:
        if finding.found.rule in HOUSEKEEPING_NAMES:
            return False
        return any(
            (finding.found.rule in names or finding.channel in names)
            and matches(policy.placed(finding.path), (pattern,))
            for pattern, names in self.per_file.items()
        )
