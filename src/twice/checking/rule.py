"""What a rule is: its facts, and the functions that look for it.

A rule is one file in ``rules``. Its docstring is its page: a first line that says what is wrong, text,
and the headings ``Bad`` and ``Good`` over code that is also its test. It binds ``RULE`` to a ``Rule``.

Invariant: a rule never sees what class was declared; it says which one is broken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from twice.checking.findings import Found
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

if TYPE_CHECKING:
    import ast

    from twice.checking.syntax.module import Module, Site
    from twice.checking.syntax.survey import Scope

Looking: TypeAlias = "Callable[[Site], Iterable[Found]]"
Applying: TypeAlias = "Callable[[Module], bool]"
Suiting: TypeAlias = "Callable[[Any, Scope], bool]"
Gathering: TypeAlias = "Callable[[Module], Any]"
Concluding: TypeAlias = "Callable[[Mapping[str, Any]], Iterable[tuple[str, Found]]]"


class Breaks(IntEnum):
    """The weakest promise that is broken; ordered, the easiest to break last."""

    STATISTICAL = 0
    """The same distribution over many runs."""
    LOGICAL = 1
    """The same decisions."""
    BIT_EXACT = 2
    """The same bits on one host, in another process."""
    CROSS_HOST = 3
    """The same bits on another host."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to lose determinism that can be seen in a program's text.

    Args:
        name: words with hyphens, for example ``unsorted-listing``.
        channel: through which of the ten the difference comes in.
        breaks: the weakest promise that is broken.
        severity: how badly, in the core of a program that made that promise.
        remedy: one sentence: what to do.
        calls: groups of the catalogue: ``look`` gets every call of a name in one of them.
        methods: groups of the catalogue: ``look`` gets every call of a method so named on an
            object that is not an imported module.
        nodes: kinds of syntax: ``look`` gets every node of them; ``ast.Module`` is the whole file, once.
        look: looks at one site.
        applies: whether a file can hold anything for ``look``, asked once for a rule with ``nodes``.
        suits: whether one of the ``nodes`` can be worth a look, by itself and its scope alone: of many
            nodes few are, and that is seen before a site is made of them.
        named: words: of functions, ``look`` gets those alone whose name is or has one of them; None for all.
        gather: facts of one file for ``conclude``, as plain JSON values; None when there are none.
        conclude: looks at the facts of all files, by path.
    """

    name: str
    channel: Channel
    breaks: Breaks
    severity: Severity
    remedy: str
    calls: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    nodes: tuple[type[ast.AST], ...] = ()
    look: Looking | None = None
    applies: Applying | None = None
    suits: Suiting | None = None
    named: frozenset[str] | None = None
    gather: Gathering | None = None
    conclude: Concluding | None = None
    page: Page = field(default_factory=lambda: Page("", "", (), ()))

    @property
    def facts(self) -> RuleFacts:
        """What has to be known of it to judge what it found."""
        return RuleFacts(
            self.name, self.channel, self.breaks, self.severity, self.remedy, self.page.title
        )

    @property
    def fact_name(self) -> str:
        """What its facts are kept under: rules that gather by one function share them."""
        return "" if self.gather is None else self.gather.__module__.rpartition(".")[2]

    @property
    def title(self) -> str:
        """What is wrong, in one line."""
        return self.page.title


def mentions(*words: str) -> Applying:
    """Give an ``applies`` for files whose text has one of some words in it."""
    return lambda module: module.speaks_of(*words)


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """What has to be known of a rule to judge what it found; cached beside findings.

    Args:
        name: words with hyphens.
        channel: through which of the ten the difference comes in.
        breaks: the weakest promise that is broken.
        severity: how badly, in the core of a program that made that promise.
        remedy: one sentence: what to do.
        title: what is wrong, in one line.
    """

    name: str
    channel: Channel
    breaks: Breaks
    severity: Severity
    remedy: str
    title: str

    def to_json(self) -> list[Any]:
        """Give plain values for the cache."""
        return [self.name, self.channel, self.breaks, self.severity, self.remedy, self.title]

    @classmethod
    def from_json(cls, data: Sequence[Any]) -> Self:
        """Read back what ``to_json`` gave."""
        name, channel, breaks, severity, remedy, title = data
        return cls(name, Channel(channel), Breaks(breaks), Severity(severity), remedy, title)


@dataclass(frozen=True, slots=True)
class Page:
    """A rule's docstring, taken apart.

    Args:
        title: the first line.
        text: the text under it.
        bad: examples in which the rule must find something.
        good: examples in which it must find nothing.
    """

    title: str
    text: str
    bad: tuple[str, ...]
    good: tuple[str, ...]


def page_of(docstring: str) -> Page:
    """Take a rule's docstring apart: text, then examples indented by four under Bad and Good."""
    lines = docstring.strip().splitlines()
    text: list[str] = []
    examples: dict[str, list[str]] = {"Bad:": [], "Good:": []}
    heading = ""
    fresh = True
    for line in lines[1:]:
        if line.strip() in examples:
            heading = line.strip()
            fresh = True
        elif not heading:
            text.append(line)
        elif line.startswith("    ") or not line.strip():
            if fresh and line.strip():
                examples[heading].append("")
                fresh = False
            if not fresh:
                examples[heading][-1] += line[4:] + "\n"
        elif line.strip() == "or:":
            fresh = True
        else:
            heading = ""
            text.append(line)
    tidy = {key: tuple(f"{one.rstrip()}\n" for one in found) for key, found in examples.items()}
    return Page(lines[0] if lines else "", "\n".join(text).strip(), tidy["Bad:"], tidy["Good:"])
