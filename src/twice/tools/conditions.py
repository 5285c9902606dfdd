"""What must hold before a macro begins, and after it has ended.

A condition is data: two templates and a relation between them, or one name that the backend must
hold or not hold.

Invariant: checking a condition changes nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from twice.tools.errors import CallRefused, ToolRefused
from twice.tools.templates import document, fill, paths_in

Relation = Literal["==", "!=", "<", "<=", ">", ">=", "held", "free"]

_COMPARED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Condition:
    """One thing that must hold.

    Args:
        left: a template; for ``held`` and ``free``, a name.
        relation: how it stands to the right; ``held`` and ``free`` ask the backend.
        right: a template; nothing for ``held`` and ``free``.
        otherwise: what to say when it does not hold, as one sentence.

    Raises:
        ToolRefused: E-TOOL-001, for a relation that does not exist.
    """

    left: Any
    relation: Relation
    right: Any = None
    otherwise: str = ""

    def __post_init__(self) -> None:
        if self.relation not in get_args(Relation):
            raise ToolRefused(
                f"A condition has the relation {self.relation!r:.40}.",
                f"Expected one of {', '.join(get_args(Relation))}.",
                "For example: Condition(Ref('parameters.n'), '<=', 100)",
            )

    def document(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "left": document(self.left),
            "relation": self.relation,
            "right": document(self.right),
            "otherwise": self.otherwise,
        }

    def paths(self) -> list[str]:
        """Every path that it refers to."""
        return [*paths_in(self.left), *paths_in(self.right)]

    def _expected(self, right: Any) -> str:
        return (
            self.relation if self.relation in ("held", "free") else f"{self.relation} {right!r:.80}"
        )

    def check(self, scope: Mapping[str, Any], holds: Callable[[str], bool], code: str) -> None:
        """Refuse when it does not hold.

        Args:
            scope: what templates refer to.
            holds: whether the backend holds a name.
            code: with which to refuse.

        Raises:
            CallRefused: with that code.
        """
        left, right = fill(self.left, scope), fill(self.right, scope)
        if self.relation in ("held", "free"):
            good = holds(str(left)) == (self.relation == "held")
            words = f"{left!r:.80} is {'free' if self.relation == 'held' else 'held'}"
        else:
            good = _compared(self.relation, left, right)
            words = f"there is {left!r:.80}"
        if not good:
            raise CallRefused(
                code,
                self.otherwise or f"A condition of the macro does not hold: {words}.",
                f"Expected it to be {self._expected(right)}.",
                "Change the arguments or the state, and call again.",
                condition=self.document(),
            )


def _compared(relation: str, left: Any, right: Any) -> bool:
    """Whether a relation holds; between values that have no order, none but equality does."""
    try:
        return bool(_COMPARED[relation](left, right))
    except TypeError:
        return False
