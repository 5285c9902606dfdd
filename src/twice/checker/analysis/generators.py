"""Random generators: where one is made, how long it lives, whose it is; and what a call does with its stream.

A process-wide stream, such as that of ``random.random``, is a generator too: the library's. Who seeds it is settled
over all files, by ``analysis.streams``.

Invariant: a generator that cannot be traced is ``PASSED``, nothing is guessed.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from twice.checker.analysis.seed_expressions import is_lazy, is_set_later, is_unseeded
from twice.checker.syntax.module import Site
from twice.checker.syntax.nodes import own_attribute


class UseKind(StrEnum):
    """What a place does with random numbers."""

    DRAWS = "draws"
    MAKES = "makes"
    SEEDS = "seeds"


class StreamOwner(StrEnum):
    """Who owns a stream of random numbers."""

    NAMED = "named-stream"
    """A stream of the run, by name."""
    GENERATOR = "generator"
    """A generator that this project makes from a seed."""
    PARAMETER = "parameter"
    """A generator that the caller hands in."""
    PASSED = "passed"
    """A generator that some other object holds; where it was made was not seen."""
    PROCESS = "process-wide"
    """The one stream of a library for the whole process, which somebody here seeds."""
    NOBODY = "nobody"
    """Made without a seed, or a process-wide stream that nobody seeds."""


@dataclass(frozen=True, slots=True)
class StreamOrigin:
    """Where a generator comes from.

    Args:
        owner: whose it is.
        line: where it was made, in the same file; 0 when that was not seen.
        seed: the text of the seed, "" when there is none.
        attribute: the attribute that holds it, when another object does; the parameter that it is.
        note: what else is to be known, as the end of a sentence.
        unreached: whether the run's seed never reaches it, although it has one.
    """

    owner: StreamOwner
    line: int = 0
    seed: str = ""
    attribute: str = ""
    note: str = ""
    unreached: bool = False

    @property
    def is_orphan(self) -> bool:
        """Whether nobody owns it, or its owner seeds it with what is not the run's."""
        return self.owner is StreamOwner.NOBODY or self.unreached


class StreamUse(NamedTuple):
    """What a call does with which stream, and whose that is."""

    kind: UseKind
    stream: str
    origin: StreamOrigin


class Lifetime(StrEnum):
    """How long a generator that a call makes lives, and so who shares it."""

    CALL = "one call of a function"
    INSTANCE = "an instance"
    CLASS = "all instances of a class"
    MODULE = "all callers in the process"
    DEFAULT = "all calls of a function, as an argument's default"


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator where it is made.

    Args:
        target: what it is assigned to; None when it goes on at once.
        lifetime: how long it lives.
        is_unseeded: whether it starts from the system's entropy, and nothing in the function seeds it.
        lazy: the test that it is missing, before it is made at its first use; None for no such test.
    """

    target: ast.expr | None
    lifetime: Lifetime
    is_unseeded: bool
    lazy: ast.AST | None

    @property
    def attribute(self) -> str:
        """The attribute of ``self`` that it becomes; "" for another target."""
        return "" if self.target is None else own_attribute(self.target)

    @classmethod
    def from_site(cls, site: Site) -> Generator:
        """Read the call of a constructor."""
        parents, scope = site.module.survey.parents, site.scope
        parent = parents.get(site.node)
        if isinstance(parent, ast.Attribute) and parent.attr == "manual_seed":
            parent = parents.get(parents[parent])
        target: ast.expr | None = None
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            target = parent.targets[0]
        elif isinstance(parent, ast.AnnAssign):
            target = parent.target
        lifetime = Lifetime.CALL
        if isinstance(parent, ast.arguments):
            lifetime = Lifetime.DEFAULT
        elif isinstance(target, ast.Attribute):
            is_module = site.qualified(target.value) is not None
            lifetime = Lifetime.MODULE if is_module else Lifetime.INSTANCE
        elif isinstance(target, ast.Name) and scope.is_class:
            lifetime = Lifetime.CLASS
        elif isinstance(target, ast.Name):
            holder = site.module.names.holder(target.id, scope)
            lifetime = Lifetime.CALL if holder is None or holder.parent else Lifetime.MODULE
        unseeded = is_unseeded(site) and not is_set_later(site)
        return cls(target, lifetime, unseeded, is_lazy(site))
