"""Macros: declared sequences of tools, callable wherever a tool is.

What a macro promises is computed: the class of its weakest step, the needs of all. Its seed stands
for the session's inside it. It is atomic like any call; on a backend that cannot go back, finished
steps that say how are undone, last one first.

Invariant: a macro is made of declared data alone, and its fingerprint covers it and its steps' tools.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from twice.foundation.comparison import Tolerance
from twice.tools.backend import Revertible
from twice.tools.cases import Case
from twice.tools.conditions import Condition
from twice.tools.declaring import check_declaration, checked
from twice.tools.determinism import Determinism, weakest
from twice.tools.errors import CallRefused, ToolRefused
from twice.tools.needs import union
from twice.tools.plain import fingerprint
from twice.tools.schema import Arguments, Parameters, Result
from twice.tools.seeding import RESERVED
from twice.tools.templates import Ref, document, fill, paths_in
from twice.tools.tool import Derives, Tool

if TYPE_CHECKING:
    from twice.tools.context import Context


@dataclass(frozen=True)
class Step:
    """One call inside of a macro.

    Args:
        tool: a tool or a macro.
        arguments: by name, as templates.
        name: what later steps call its result; the last part of the tool's name by default.
        undo: what takes it back, on a backend that cannot; its templates see this step's result.
    """

    tool: Tool
    arguments: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    undo: Step | None = None

    @property
    def label(self) -> str:
        """The name that counts."""
        return self.name or self.tool.name.rpartition(".")[2]

    def document(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "step": self.label,
            "tool": self.tool.name,
            "fingerprint": self.tool.fingerprint,
            "arguments": document(dict(self.arguments)),
            "undo": None if self.undo is None else self.undo.document(),
        }


@dataclass(frozen=True)
class _Sequence:
    """What a macro does when it is called."""

    steps: tuple[Step, ...]
    before: tuple[Condition, ...]
    after: tuple[Condition, ...]
    result: Any

    def __call__(self, context: Context, arguments: Arguments) -> Any:
        results: dict[str, Any] = {}
        scope = {"parameters": dict(arguments.plain), "steps": results}
        holds = _holding(context)
        for condition in self.before:
            condition.check(scope, holds, "conflict")
        done: list[Step] = []
        try:
            for step in self.steps:
                results[step.label] = context.call(
                    step.tool, fill(step.arguments, scope), step=step.label
                )
                done.append(step)
            for condition in self.after:
                condition.check(scope, holds, "execution_failed")
            return fill(self.result, scope)
        except CallRefused:
            if not isinstance(context.maybe_backend, Revertible):
                _undo(context, done, scope)
            raise


def _undo(context: Context, done: Sequence[Step], scope: Mapping[str, Any]) -> None:
    for step in reversed(done):
        if step.undo is None:
            continue
        label = f"{step.label}.undo"
        try:
            context.call(step.undo.tool, fill(step.undo.arguments, scope), step=label)
        except CallRefused:  # What is left is found by comparing states, and told.
            continue


def _holding(context: Context) -> Any:
    backend = context.maybe_backend
    return (lambda _: False) if backend is None else backend.holds


def macro(
    name: str,
    steps: Iterable[Step],
    *,
    parameters: Mapping[str, Any] | None = None,
    description: str = "",
    version: str = "1",
    before: Iterable[Condition] = (),
    after: Iterable[Condition] = (),
    result: Any = None,
    returns: Any = inspect.Signature.empty,
    tolerance: Tolerance | None = None,
    derives: Derives = "seed",
    seconds: float | None = None,
    cases: Iterable[Case] = (),
) -> Tool:
    """Declare a sequence of tools as a tool of its own.

    Args:
        name: dotted, as a tool's.
        steps: in order, each under a name of its own.
        parameters: annotation by name, or annotation and default as a pair.
        description: what it does; the first line stands in lists.
        version: the author's; part of the fingerprint.
        before: must hold before anything is done, else ``conflict``.
        after: must hold at the end, else ``execution_failed``, and nothing is done.
        result: a template; every step's result by its name by default.
        returns: the type that the result is held against; any JSON by default.
        tolerance: within which two results count as equal; the steps' own by default.
        derives: ``seed``: seeded steps get the macro's seed. ``steps``: each gets one of its own, so
            that two steps of one tool draw differently.
        seconds: its own time limit.
        cases: what ``twice tools verify`` tries it with; no part of the fingerprint.

    Raises:
        ToolRefused: E-TOOL-001, when the declaration makes no sense.
    """
    sequence = tuple(steps)
    conditions = (tuple(before), tuple(after))
    declared = dict(parameters or {})
    _check_steps(name, sequence)
    template = (
        {each.label: Ref(f"steps.{each.label}") for each in sequence} if result is None else result
    )
    _check_references(name, sequence, conditions, template, declared)
    tools = [each.tool for each in sequence]
    undone = [each.undo.tool for each in sequence if each.undo is not None]
    kind = weakest(each.determinism for each in (*tools, *undone))
    check_declaration(name, kind, derives, seconds, False, False)
    body = _Sequence(sequence, *conditions, template)
    made = {
        "steps": [each.document() for each in sequence],
        "before": [each.document() for each in conditions[0]],
        "after": [each.document() for each in conditions[1]],
        "result": document(template),
    }
    pairs = {
        key: each if isinstance(each, tuple) else (each, ...) for key, each in declared.items()
    }
    return Tool(
        name=name,
        description=description.strip(),
        determinism=kind,
        needs=union(each.needs for each in (*tools, *undone)),
        version=version,
        parameters=checked(Parameters(pairs, seeded=kind is Determinism.SEEDED), name),
        result=Result(returns),
        body=body,
        source=fingerprint(made),
        tolerance=tolerance or _tolerance(name, tools),
        derives=derives,
        reads_only=all(each.reads_only for each in (*tools, *undone)),
        destructive=any(each.destructive for each in (*tools, *undone)),
        idempotent=all(each.reads_only for each in (*tools, *undone)),
        seconds=seconds,
        steps=made,
        uses=(*tools, *undone),
        cases=tuple(cases),
    )


def _check_steps(name: str, steps: Sequence[Step]) -> None:
    for each in steps:
        tool: object = each.tool
        if not isinstance(tool, Tool):
            raise _refused(
                f"The macro {name} has the step {each!r:.80}.",
                "Expected Step(tool, arguments) with what @tool or macro made.",
                "Declare the tool first, and give the tool itself.",
            )
        if "." in each.label:
            raise _refused(
                f"A step of {name} is called {each.label!r}.",
                "Expected a name without dots: paths are written with them.",
                "Give it another name.",
            )
    labels = [each.label for each in steps]
    if not labels or len(dict.fromkeys(labels)) != len(labels):
        raise _refused(
            f"The macro {name} has the steps {labels}.",
            "Expected one at least, each under a name of its own.",
            "Name them: Step(tool, {...}, name='left').",
        )


def _check_references(
    name: str,
    steps: Sequence[Step],
    conditions: tuple[Sequence[Condition], Sequence[Condition]],
    result: Any,
    parameters: Mapping[str, Any],
) -> None:
    """Refuse a reference to a parameter that is not declared, or to a step that comes later."""
    for key in parameters:
        if key in RESERVED:
            raise _refused(
                f"The macro {name} declares the parameter {key}.",
                "A macro with seeded steps has one already, and no other may.",
                "Leave it out.",
            )
    known: list[str] = []
    asked: list[tuple[str, list[str]]] = [
        (path, list(known)) for each in conditions[0] for path in each.paths()
    ]
    for each in steps:
        asked += [(path, list(known)) for path in paths_in(dict(each.arguments))]
        known.append(each.label)
        if each.undo is not None:
            asked += [(path, list(known)) for path in paths_in(dict(each.undo.arguments))]
    asked += [(path, known) for each in conditions[1] for path in each.paths()]
    asked += [(path, known) for path in paths_in(result)]
    for path, there in asked:
        kind, _, rest = path.partition(".")
        first = rest.partition(".")[0]
        if first not in {"parameters": list(parameters), "steps": there}.get(kind, []):
            raise _refused(
                f"The macro {name} refers to {path!r:.80}.",
                "Expected parameters.NAME of a declared parameter, or steps.NAME of an earlier step.",
                f"Declared: {', '.join(parameters) or 'no parameters'}; steps: {', '.join(known)}.",
            )


def _tolerance(name: str, tools: Sequence[Tool]) -> Tolerance | None:
    found = list(dict.fromkeys(each.tolerance for each in tools if each.tolerance is not None))
    if len(found) > 1:
        raise _refused(
            f"Steps of the macro {name} have different tolerances.",
            "Expected one for its result.",
            "Declare it: macro(…, tolerance=…).",
        )
    return found[0] if found else None


def _refused(happened: str, expected: str, remedy: str) -> ToolRefused:
    return ToolRefused(happened, expected, remedy)
