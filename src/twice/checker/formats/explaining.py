"""What a rule says of itself: its page, its weight, and where what it finds is settled.

Invariant: all of it comes from the rule's own file.
"""

from __future__ import annotations

from collections.abc import Iterator

from twice.checker.housekeeping import BANNED_NAME, HOUSEKEEPING
from twice.checker.rule import Breaks, Page, Rule
from twice.checker.rules.engine import every_rule
from twice.errors import UsageError
from twice.foundation.channels import FACTS, Channel

_PROMISES = {
    Breaks.STATISTICAL: "the same distribution",
    Breaks.LOGICAL: "the same decisions",
    Breaks.BIT_EXACT: "the same bits on one host",
    Breaks.CROSS_HOST: "the same bits on every host",
}


def every() -> tuple[Rule, ...]:
    """Give all rules, those about the checker's own work at the end."""
    return (*every_rule(), BANNED_NAME, *HOUSEKEEPING)


def pages() -> dict[str, Page]:
    """Give every rule's page, by its name."""
    return {rule.name: rule.page for rule in every()}


def explanation(name: str) -> str:
    """Give a rule's page as text.

    Raises:
        UsageError: E-USE-001: there is no such rule.
    """
    for rule in every():
        if rule.name == name:
            return "\n".join(_explained(rule)) + "\n"
    raise UsageError(
        f"There is no rule {name!r}.",
        f"Expected one of: {', '.join(each.name for each in every())}.",
        "See: twice check --list",
    )


def _explained(rule: Rule) -> Iterator[str]:
    facts = FACTS[rule.facts.channel]
    yield f"{rule.name}: {rule.facts.title}"
    yield ""
    if rule.page.text:
        yield rule.page.text
        yield ""
    yield f"severity:    {rule.facts.severity.word}, in the core, where the value is seen to arrive"
    yield f"breaks:      {_PROMISES[rule.facts.breaks]}"
    yield f"channel:     {rule.facts.channel.value}"
    yield f"decided in:  {facts.artifact} {facts.sheet}"
    yield f"do:          {rule.facts.remedy}"
    for heading, examples in (("Bad", rule.page.bad), ("Good", rule.page.good)):
        for number, example in enumerate(examples):
            yield ""
            yield f"{heading}:" if number == 0 else "or:"
            yield ""
            yield from (f"    {line}".rstrip() for line in example.rstrip().splitlines())


def listing() -> str:
    """Give all rules by channel, one line each."""
    rules = every()
    width = max(len(rule.name) for rule in rules)
    rows = []
    for channel in Channel:
        those = [rule for rule in rules if rule.facts.channel is channel]
        if those:
            rows.append(f"{channel.value} ({FACTS[channel].artifact} {FACTS[channel].sheet})")
            rows += [
                f"  {rule.name:<{width}}  {rule.facts.severity.word:<8}  {rule.facts.title}"
                for rule in those
            ]
    return "\n".join(rows) + "\n"
