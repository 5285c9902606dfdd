"""A tool: a function, what it promises, what it needs, and the fingerprint of all that.

Knows how to read its arguments and hold its result to the declared type. Does not decide whether it
may run, and takes no checkpoint: that is the session's.

Invariant: two tools of equal fingerprint have equal descriptors, source included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from twice.foundation.comparison import Tolerance
from twice.tools.cases import Case
from twice.tools.determinism import Determinism
from twice.tools.needs import Needs
from twice.tools.plain import fingerprint

if TYPE_CHECKING:
    from twice.tools.context import Context
    from twice.tools.schema import Arguments, Parameters, Result

Body = Callable[["Context", "Arguments"], Any]
Derives = Literal["seed", "steps"]


@dataclass(frozen=True, eq=False)
class Tool:
    """One operation under contract; made by ``tool`` and ``macro``.

    Attributes:
        name: dotted, as hosts call it.
        description: its documentation; the first line says what it does.
        determinism: the class that it declares; a macro's is computed.
        needs: what it uses besides arguments, state and context.
        version: the author's, part of the fingerprint.
        parameters: what may be given to it.
        result: what it may give back.
        body: what is executed.
        source: labelled digest of its source text.
        tolerance: within which two results count as equal; None claims equality.
        derives: ``seed`` hands sub-operations the call's own seed, ``steps`` one by step path.
        reads_only: whether it promises to change nothing.
        destructive: whether it may remove or replace what was there.
        idempotent: whether a second equal call changes nothing more.
        seconds: its own time limit, under the session's; None for that alone.
        steps: what a macro is made of, as plain data; empty for a function.
        uses: the tools that a macro's steps call, in order.
        function: what a decorated tool was made from.
        cases: what verification tries it with; no part of the fingerprint.
    """

    name: str
    description: str
    determinism: Determinism
    needs: Needs
    version: str
    parameters: Parameters
    result: Result
    body: Body = field(repr=False)
    source: str
    tolerance: Tolerance | None = None
    derives: Derives = "seed"
    reads_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    seconds: float | None = None
    steps: Mapping[str, Any] = field(default_factory=dict)
    uses: tuple[Tool, ...] = ()
    function: Callable[..., Any] | None = None
    cases: tuple[Case, ...] = ()

    @property
    def summary(self) -> str:
        """The first line of the description."""
        return self.description.partition("\n")[0]

    @property
    def is_macro(self) -> bool:
        """Whether it is a declared sequence of other tools."""
        return bool(self.steps)

    @cached_property
    def descriptor(self) -> dict[str, Any]:
        """Everything that a caller relies on, as plain data."""
        return {
            "format": "twice.tool/1",
            "name": self.name,
            "description": self.description,
            "determinism": self.determinism.value,
            "version": self.version,
            "needs": self.needs.to_json(),
            "input": self.parameters.schema,
            "output": self.result.schema,
            "tolerance": None if self.tolerance is None else self.tolerance.to_json(),
            "derives": self.derives,
            "reads_only": self.reads_only,
            "destructive": self.destructive,
            "idempotent": self.idempotent,
            "seconds": self.seconds,
            "steps": dict(self.steps),
            "source": self.source,
        }

    @cached_property
    def fingerprint(self) -> str:
        """The labelled digest of the descriptor in RFC 8785 form."""
        return fingerprint(self.descriptor)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the function itself, as a test would: nothing is checked and nothing enforced.

        Raises:
            TypeError: for a macro, which has no function.
        """
        if self.function is None:
            raise TypeError(f"{self.name} is a macro: call it through a session")
        return self.function(*arguments, **named)
