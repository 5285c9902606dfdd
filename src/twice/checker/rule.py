"""What a rule is: its facts, and the functions that look for it.

Rules are made by the decorators of ``rules.engine``; the page of each is ``rules/pages/NAME.md``.

Invariant: a rule never sees what class was declared; it says which one is broken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

from twice.checker.findings import Violation
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

if TYPE_CHECKING:
    import ast

    from twice.checker.analysis.project_names import ProjectNames
    from twice.checker.policy import Zone
    from twice.checker.syntax.module import Module, Site
    from twice.checker.syntax.survey import Scope

Looking: TypeAlias = "Callable[[Site], Iterable[Violation]]"
Applying: TypeAlias = "Callable[[Module], bool]"
Suiting: TypeAlias = "Callable[[Any, Scope], bool]"
Gathering: TypeAlias = "Callable[[Module], Any]"
Concluding: TypeAlias = "Callable[[ProjectFacts], Iterable[tuple[str, Violation]]]"

_PAGES: Final = Path(__file__).with_name("rules") / "pages"


class ProjectFacts(dict[str, Any]):
    """What a rule gathered in every file, by path, with the names and the parts of the project that the files are.

    Args:
        zone: gives the zone of a path, by the project's configuration.
        names: finds what a name of a file stands for in all files.
        facts: the facts of each file; the files may be added later.
    """

    def __init__(
        self,
        zone: Callable[[str], Zone],
        names: ProjectNames,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(facts or {})
        self.zone = zone
        self.names = names

    @classmethod
    def by_name(
        cls,
        facts: Mapping[str, Mapping[str, Any]],
        zone: Callable[[str], Zone],
        names: ProjectNames,
    ) -> Mapping[str, Self]:
        """Arrange the facts of each file by the name of what gathered them; none for a name that gathered nothing."""
        found: dict[str, Self] = defaultdict(lambda: cls(zone, names))
        for path, gathered in sorted(facts.items()):
            for name, one in gathered.items():
                found[name][path] = one
        return found

    def outside_tests(self) -> ProjectFacts:
        """Give the facts of the files that are no tests."""
        kept = {path: one for path, one in self.items() if self.zone(path) != "tests"}
        return ProjectFacts(self.zone, self.names, kept)


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
class Page:
    """The text of a rule, with examples that are its tests.

    Args:
        text: why it matters, and of which code nothing is said.
        bad: examples in which the rule must find something.
        good: examples in which it must find nothing.
    """

    text: str = ""
    bad: tuple[str, ...] = ()
    good: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """What has to be known of a rule to judge what it found; cached beside findings.

    Args:
        name: words with hyphens, for example ``unsorted-listing``.
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
class Rule:
    """One way to lose determinism that can be seen in a program's text.

    Args:
        facts: its name, channel and weight.
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
        once_per_function: whether the first finding in a function stands for all of them.
        supersedes: names of rules whose findings at the same place say less than this one's.
    """

    facts: RuleFacts
    calls: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    nodes: tuple[type[ast.AST], ...] = ()
    look: Looking | None = None
    applies: Applying | None = None
    suits: Suiting | None = None
    named: frozenset[str] | None = None
    gather: Gathering | None = None
    conclude: Concluding | None = None
    once_per_function: bool = False
    supersedes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Words with hyphens."""
        return self.facts.name

    @property
    def fact_name(self) -> str:
        """What its facts are kept under: rules that gather by one function share them."""
        return "" if self.gather is None else _name(self.gather)

    @property
    def page(self) -> Page:
        """Its page; an empty one for a rule about the checker's own work."""
        path = _PAGES / f"{self.name}.md"
        return read_page(path) if path.exists() else Page()


@cache
def read_page(path: Path) -> Page:
    """Read a page: text, then ``## Bad`` and ``## Good`` over blocks of Python between fences."""
    text, *sections = path.read_text("utf-8").split("## ")
    found: dict[str, list[str]] = {"Bad": [], "Good": []}
    for section in sections:
        heading, _, rest = section.partition("\n")
        blocks = rest.split("```python\n")[1:]
        found[heading.strip()] += [each.partition("```")[0] for each in blocks]
    return Page(text.strip(), tuple(found["Bad"]), tuple(found["Good"]))


def _name(function: Gathering) -> str:
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


def mentions(*words: str) -> Applying:
    """Give an ``applies`` for files whose text has one of some words in it."""
    return lambda module: module.speaks_of(*words)
