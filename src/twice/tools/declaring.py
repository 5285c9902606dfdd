"""``@tool``: a typed function becomes a tool, or the declaration is refused where it stands.

Not covered: whether the declaration is true. Enforcement sees what it can while a tool runs, and
verification tries to prove it wrong; see docs/guides/tools.md.

Invariant: a tool that was declared has exactly one class, and schemas for what goes in and out.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable
from types import CodeType
from typing import TYPE_CHECKING, Any

from twice.foundation.comparison import Tolerance
from twice.foundation.digests import Algorithm, digest_bytes
from twice.tools.cases import Case
from twice.tools.context import Context
from twice.tools.determinism import Determinism
from twice.tools.errors import ToolRefused
from twice.tools.needs import Needs
from twice.tools.plain import NotPlain, plain
from twice.tools.schema import Arguments, Parameters, Result, signature_of
from twice.tools.tool import Derives, Tool

if TYPE_CHECKING:
    from twice.tools.tool import Body

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
_NAME_MAX = 64
_CLASSES = ", ".join(repr(each.value) for each in Determinism)


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
) -> Callable[[Callable[..., Any]], Tool]:
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
    kind = check_declaration(name, determinism, derives, seconds, reads_only, destructive)
    tried_with = tuple(cases)

    def declare(function: Callable[..., Any]) -> Tool:
        seeded = kind is Determinism.SEEDED
        declared, returns, runtime = signature_of(function, Context, seeded=seeded)
        takes_seed = "seed" in inspect.signature(function).parameters
        return Tool(
            name=name,
            description=described(function),
            determinism=kind,
            needs=needs or Needs(),
            version=version,
            parameters=checked(Parameters(declared, seeded=seeded), name),
            result=Result(returns),
            body=_body(function, runtime, takes_seed=takes_seed),
            source=source_digest(function),
            tolerance=tolerance,
            derives=derives,
            reads_only=reads_only,
            destructive=destructive,
            idempotent=idempotent,
            seconds=seconds,
            function=function,
            cases=tried_with,
        )

    return declare


def check_declaration(
    name: str,
    determinism: str | None,
    derives: str,
    seconds: float | None,
    reads_only: bool,
    destructive: bool,
) -> Determinism:
    """Check what every declaration has; its class.

    Raises:
        ToolRefused: E-TOOL-001.
    """
    if not _NAME.fullmatch(name) or len(name) > _NAME_MAX:
        raise ToolRefused(
            f"{name!r} is no name for a tool.",
            f"Expected letters, digits, '_' and '-' in parts joined by dots, at most {_NAME_MAX}.",
            "For example: scatter.points",
        )
    if determinism is None or determinism not in list(Determinism):
        said = "declares no class" if determinism is None else f"declares {determinism!r}"
        raise ToolRefused(
            f"The tool {name} {said}.",
            f"Expected exactly one of {_CLASSES}.",
            f'For example: @tool("{name}", determinism="deterministic")',
        )
    if derives not in ("seed", "steps"):
        raise ToolRefused(
            f"The tool {name} derives {derives!r}.",
            "Expected 'seed' (sub-operations use the same) or 'steps' (one each, by path).",
            "Leave it out, or write derives='steps'.",
        )
    if seconds is not None and not 0 < seconds < float("inf"):
        raise ToolRefused(
            f"The tool {name} has a time limit of {seconds!r} seconds.",
            "Expected a number above 0, or none.",
            "For example: seconds=30",
        )
    if reads_only and destructive:
        raise ToolRefused(
            f"The tool {name} is declared to read only and to be destructive.",
            "Expected one of the two, or neither.",
            "Leave out the one that is not true.",
        )
    return Determinism(determinism)


def checked(parameters: Parameters, name: str) -> Parameters:
    """Refuse parameters whose schema has no canonical form, as one with a default of NaN.

    Raises:
        ToolRefused: E-TOOL-001.
    """
    try:
        plain(parameters.schema)
    except NotPlain as error:
        raise ToolRefused(
            f"The schema of {name} has no canonical form: {error}.",
            "Expected defaults and limits that JSON can hold.",
            "Change that default or limit.",
        ) from error
    return parameters


def described(function: Callable[..., Any]) -> str:
    """Return a function's documentation without its common indent."""
    return (inspect.getdoc(function) or "").strip()


def source_digest(function: Callable[..., Any]) -> str:
    """Return the labelled digest of a function's source text, or of its code if it has no text.

    The functions that it calls are not in it: raise a tool's version after a change of a helper.
    """
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        text = _code_text(function.__code__)
    return str(digest_bytes(text.encode("utf-8", "surrogatepass"), Algorithm.SHA256))


def _code_text(code: CodeType) -> str:
    constants = [
        _code_text(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts
    ]
    return repr((code.co_code.hex(), code.co_names, code.co_varnames, constants))


def _body(function: Callable[..., Any], runtime: str | None, *, takes_seed: bool) -> Body:
    def run(context: Context, arguments: Arguments) -> Any:
        given = dict(arguments.values)
        if runtime is not None:
            given[runtime] = context
        if takes_seed:
            given["seed"] = context.raw_seed
        return function(**given)

    return run
