"""The delay before a retry is drawn from a stream that results are drawn from."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any, Final

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules import streams
from twice.checker.rules.seeding import is_delay, is_generator
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import TIMING, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME: Final = "jitter-on-stream"
_OWN: Final = TIMING | {"jitter", "noise", "network", "io"}
_WHY: Final = (
    "Each one takes a number out of the stream, so the world's delays decide all later ones."
)


def look(site: Site) -> Iterator[Violation]:
    """Look at a draw from a generator."""
    func = site.call.func
    assert isinstance(func, ast.Attribute), "methods are asked for"
    if about(last_name(func.value), _OWN) or not is_generator(site, func.value):
        return
    kind = site.kind(func.value)
    if kind is not None and kind.origin == "random.SystemRandom":
        return
    if not is_delay(site):
        return
    yield site.found(NAME, f"A delay is drawn from {site.module.shown(func.value)}.", _WHY)


def conclude(facts: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
    """Report the delays that are drawn from process-wide streams."""
    for path, found, is_shared in streams.delays(facts):
        yield path, streams.renamed(found, NAME, _WHY, Reach.LOUD if is_shared else Reach.UNSEEN)


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.RNG,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Draw delays from a generator of their own that results never use: random.SystemRandom().",
        __doc__ or "",
    ),
    methods=("draws",),
    look=look,
    gather=streams.gather,
    conclude=conclude,
)
