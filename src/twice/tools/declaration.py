"""``@tool`` and ``@macro``: a typed function becomes a tool, or the declaration is refused where it stands.

A macro is a tool that is made of others: ``uses`` names them, and class, needs and flags follow from
them. Not covered: whether a declaration is true. Enforcement sees what it can while a tool runs, and
verification tries to prove it wrong; see docs/guides/tools.md.

Invariant: a tool has exactly one class, and two tools of equal fingerprint have equal descriptors,
source included.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from types import CodeType
from typing import Any, Literal, get_args

from twice.foundation.comparison import Tolerance
from twice.foundation.digests import Algorithm, digest_bytes
from twice.tools.canonical_json import NotPlain, fingerprint, plain
from twice.tools.cases import Case
from twice.tools.context import Context
from twice.tools.determinism import Determinism, weakest
from twice.tools.errors import ToolRefused
from twice.tools.needs import Needs, union
from twice.tools.schema import Arguments, Parameters, Result, read_signature

Derives = Literal["seed", "steps"]
Decorator = Callable[[Callable[..., Any]], "Tool"]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
_NAME_MAX = 64


@dataclass(frozen=True, eq=False)
class Tool:
    """One operation under contract; made by ``tool`` and ``macro``, which say what most attributes mean.

    Attributes:
        determinism: the class that it declares; a macro's is computed.
        uses: the tools that a macro is made of, in the order of its declaration; empty for a tool.
        parameters: what may be given to it.
        result: what it may give back.

    Raises:
        ToolRefused: E-TOOL-001, when the declaration makes no sense.
    """

    name: str
    function: Callable[..., Any] = field(repr=False)
    determinism: Determinism
    needs: Needs
    version: str = "1"
    tolerance: Tolerance | None = None
    derives: Derives = "seed"
    reads_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    seconds: float | None = None
    uses: tuple[Tool, ...] = ()
    cases: tuple[Case, ...] = ()
    parameters: Parameters = field(init=False)
    result: Result = field(init=False)
    _context: str | None = field(init=False)
    _takes_seed: bool = field(init=False)

    def __post_init__(self) -> None:
        self._check()
        seeded = self.determinism is Determinism.SEEDED
        declared, returns, context = read_signature(self.function, Context, seeded=seeded)
        object.__setattr__(self, "parameters", Parameters(declared, seeded=seeded))
        object.__setattr__(self, "result", Result(returns))
        object.__setattr__(self, "_context", context)
        takes_seed = "seed" in inspect.signature(self.function).parameters
        object.__setattr__(self, "_takes_seed", takes_seed)
        try:
            plain(self.parameters.schema)
        except NotPlain as error:
            raise ToolRefused(
                f"The schema of {self.name} has no canonical form: {error}.",
                "Expected defaults and limits that JSON can hold.",
                "Change that default or limit.",
            ) from error

    def _check(self) -> None:
        if not _NAME.fullmatch(self.name) or len(self.name) > _NAME_MAX:
            raise ToolRefused(
                f"{self.name!r} is no name for a tool.",
                f"Expected letters, digits, '_' and '-' in parts joined by dots, at most {_NAME_MAX}.",
                "For example: scatter.points",
            )
        if self.derives not in get_args(Derives):
            raise ToolRefused(
                f"The tool {self.name} derives {self.derives!r}.",
                "Expected 'seed' (sub-operations use the same) or 'steps' (one each, by path).",
                "Leave it out, or write derives='steps'.",
            )
        if self.seconds is not None and not 0 < self.seconds < float("inf"):
            raise ToolRefused(
                f"The tool {self.name} has a time limit of {self.seconds!r} seconds.",
                "Expected a number above 0, or none.",
                "For example: seconds=30",
            )
        if self.reads_only and self.destructive:
            raise ToolRefused(
                f"The tool {self.name} is declared to read only and to be destructive.",
                "Expected one of the two, or neither.",
                "Leave out the one that is not true.",
            )

    @property
    def description(self) -> str:
        """The function's documentation; the first line says what the tool does."""
        return (inspect.getdoc(self.function) or "").strip()

    @property
    def summary(self) -> str:
        """The first line of the description."""
        return self.description.partition("\n")[0]

    @property
    def is_macro(self) -> bool:
        """Whether it is made of other tools."""
        return bool(self.uses)

    @cached_property
    def descriptor(self) -> dict[str, Any]:
        """Everything that a caller relies on, as plain data.

        ``source`` is the digest of the function's text. The functions that it calls are not in it:
        raise a tool's version after a change of a helper.
        """
        return {
            "format": "twice.tool/2",
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
            "uses": [{"tool": each.name, "fingerprint": each.fingerprint} for each in self.uses],
            "source": _digest_source(self.function),
        }

    @cached_property
    def fingerprint(self) -> str:
        """The labelled digest of the descriptor in RFC 8785 form."""
        return fingerprint(self.descriptor)

    def execute(self, context: Context, arguments: Arguments) -> Any:
        """Call the function with arguments that were read, and what the runtime gives."""
        given = dict(arguments.values)
        if self._context is not None:
            given[self._context] = context
        if self._takes_seed:
            given["seed"] = context.raw_seed
        return self.function(**given)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the function itself, as a test would: nothing is checked and nothing enforced."""
        return self.function(*arguments, **named)


def tool(
    name: str,
    *,
    determinism: str | None = None,
    needs: Needs | None = None,
    version: str = "1",
    tolerance: Tolerance | None = None,
    derives: Derives = "seed",
    reads_only: bool = False,
    destructive: bool = False,
    idempotent: bool = False,
    seconds: float | None = None,
    cases: Iterable[Case] = (),
) -> Decorator:
    """Declare a function as a tool.

    Its parameters are the tool's: typed, given by name, read strictly. One annotated ``Context`` is
    given by the runtime. A seeded tool has ``seed`` and ``call_key`` besides; a parameter of its own
    called ``seed`` receives the number that the call's seed and key make.

    Args:
        name: dotted, at most 64 characters: ``scatter.points``.
        determinism: ``deterministic``, ``seeded`` or ``nondeterministic``; there is no default.
        needs: what it uses besides arguments, state and context; nothing by default.
        version: the author's; part of the fingerprint.
        tolerance: within which two results count as equal, for example ``Abs(1e-9)``. The result then
            carries no fingerprint, for a fingerprint claims equality.
        derives: ``seed``: sub-operations get the call's seed. ``steps``: each gets one of its own,
            derived from the seed and the step's path.
        reads_only: it changes nothing.
        destructive: it may remove or replace what was there.
        idempotent: a second equal call changes nothing more.
        seconds: its own time limit.
        cases: what ``twice tools verify`` tries it with; no part of the fingerprint.

    Raises:
        ToolRefused: E-TOOL-001, when the declaration makes no sense.
    """
    if not isinstance(name, str):
        raise ToolRefused(
            "@tool stands without a name.",
            "A tool has a name and a class.",
            'Write: @tool("scatter.points", determinism="seeded")',
        )
    if determinism is None or determinism not in list(Determinism):
        said = "declares no class" if determinism is None else f"declares {determinism!r}"
        raise ToolRefused(
            f"The tool {name} {said}.",
            f"Expected exactly one of {', '.join(repr(each.value) for each in Determinism)}.",
            f'For example: @tool("{name}", determinism="deterministic")',
        )
    kind, cases = Determinism(determinism), tuple(cases)
    return lambda function: Tool(
        name, function, kind, needs or Needs(), version, tolerance, derives,
        reads_only, destructive, idempotent, seconds, cases=cases,
    )  # fmt: skip


def macro(
    name: str,
    *,
    uses: Iterable[Tool],
    version: str = "1",
    tolerance: Tolerance | None = None,
    derives: Derives = "seed",
    seconds: float | None = None,
    cases: Iterable[Case] = (),
) -> Decorator:
    """Declare a function that calls other tools, by ``context.call``, as a tool of its own.

    It has the class of the weakest tool that it uses, and the needs of all. It reads only when all of
    them do. Its seed stands for the session's inside it. Like any call it is atomic.

    Args (the others are those of ``tool``):
        uses: the tools that it calls; it may call no other.
        tolerance: within which two results count as equal; that of its tools by default.
        derives: ``seed``: seeded tools get the macro's seed. ``steps``: each call gets one of its own,
            so that two calls of one tool draw differently.

    Raises:
        ToolRefused: E-TOOL-001, when the declaration makes no sense.
    """
    parts, cases = tuple(uses), tuple(cases)
    if not parts or not all(isinstance(each, Tool) for each in parts):
        raise ToolRefused(
            f"The macro {name} uses {parts!r:.80}.",
            "Expected one tool at least, each made by @tool or @macro.",
            "Declare the tools first, and give the tools themselves: uses=[scatter, place]",
        )
    tolerances = list(dict.fromkeys(each.tolerance for each in parts if each.tolerance is not None))
    if tolerance is None and len(tolerances) > 1:
        raise ToolRefused(
            f"The tools that the macro {name} uses have different tolerances.",
            "Expected one for its result.",
            "Declare it: @macro(…, tolerance=…)",
        )
    kind, needs = weakest(each.determinism for each in parts), union(each.needs for each in parts)
    reads_only = all(each.reads_only for each in parts)
    destructive = any(each.destructive for each in parts)
    return lambda function: Tool(
        name, function, kind, needs, version, tolerance or next(iter(tolerances), None), derives,
        reads_only, destructive, idempotent=reads_only, seconds=seconds, uses=parts, cases=cases,
    )  # fmt: skip


def _digest_source(function: Callable[..., Any]) -> str:
    """Return the labelled digest of a function's source text, or of its code if it has no text."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        text = _write_code(function.__code__)
    return str(digest_bytes(text.encode("utf-8", "surrogatepass"), Algorithm.SHA256))


def _write_code(code: CodeType) -> str:
    constants = [
        _write_code(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts
    ]
    return repr((code.co_code.hex(), code.co_names, code.co_varnames, constants))
