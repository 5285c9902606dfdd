"""What is checked before a tool runs: time and limits, name, arguments, class, needs, level, seed.

Each check refuses with the code, the values and the step to blame; none changes anything but the session's time.

Invariant: a call that passes has a class that meets what was required of it, and nothing that it
declares to need is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import pydantic

from twice.foundation.printable import pluralize
from twice.foundation.seeds import derive_in, path_segments
from twice.tools.contract import read_time, write_time
from twice.tools.declaration import Tool
from twice.tools.determinism import Determinism, Requirement
from twice.tools.errors import CallRefused, blame_tool, refuse_limit
from twice.tools.registry import Registry
from twice.tools.seeds import Seeded

if TYPE_CHECKING:
    from twice.tools.call import Operation
    from twice.tools.session import Session

DEPTH_MAX: Final = 16
_PROBLEMS_MAX: Final = 20


def find_requirement(operation: Operation) -> Requirement:
    """Return what is required: of a call by contract and host, of a part also what the whole promises.

    A call outside of its contract's limits or time is refused: ``contract_violation``.
    """
    session, host, outer = operation.session, operation.host, operation.outer
    if outer is not None:
        kind = outer.tool.determinism
        promise = None if kind is Determinism.NONDETERMINISTIC else kind
        return outer.require.and_also(Requirement(promise))
    if host.time is not None:
        session.time = _read_time(session, host.time)
    limits = session.contract.limits
    if limits.calls is not None and session.calls >= limits.calls:
        raise _refuse_expired("calls", f"it covers {limits.calls} calls")
    if limits.until is not None and session.time is not None and session.time > limits.until:
        raise _refuse_expired("until", f"it ended at {write_time(limits.until)}")
    try:
        required = None if host.require is None else Determinism(host.require)
    except ValueError as error:
        raise CallRefused(
            "invalid_arguments",
            f"The required class {host.require!r:.80} is none of {', '.join(Determinism)}.",
            "Expected a class, or none.",
            "For example: deterministic.",
        ) from error
    return session.contract.requirement.and_also(Requirement(required))


def _read_time(session: Session, value: object) -> datetime:
    try:
        time = read_time(value)
        why = "" if session.contract.time is not None else "needs a contract with a time"
        if session.time is not None and time < session.time:
            why = f"lies before {write_time(session.time)}"
    except ValueError as error:
        why = str(error)
    if why:
        raise refuse_limit(
            "time",
            f"The time cannot be set: {value!r:.80} {why}.",
            "Expected a moment with a zone, not before the last one, under a contract with a time.",
            'For example: "2026-01-31T12:00:00Z".',
        )
    return time


def _refuse_expired(limit: str, why: str) -> CallRefused:
    return refuse_limit(
        limit,
        f"The contract has expired: {why}.",
        "Expected calls within its limits.",
        "Negotiate another contract.",
    )


def find_tool(registry: Registry, asked: Tool | str) -> Tool:
    """Return the requested tool, which must be one of the registry's: ``not_found``."""
    name = asked if isinstance(asked, str) else asked.name
    tool = registry.get(name)
    if tool is None or (isinstance(asked, Tool) and tool is not asked):
        last = name.rpartition(".")[2].lower()
        close = [each for each in registry.names if each.rpartition(".")[2].lower() == last]
        raise CallRefused(
            "not_found",
            f"There is no tool {str(name)[:80]!r} in the registry {registry.name}.",
            f"Expected one of its {pluralize(len(registry), 'tool')}.",
            f"Did you mean {close[0]}?" if close else "List them: twice tools list REGISTRY.",
            tool=str(name)[:80],
            close=close[:5],
        )
    return tool


def refuse_arguments(tool: Tool, problems: Sequence[Mapping[str, Any]]) -> CallRefused:
    """Arguments that are not what the schema says."""
    first = problems[0]
    where = f" at {first['path']}" if first["path"] else ""
    more = f" ({len(problems) - 1} more in details)" if len(problems) > 1 else ""
    return CallRefused(
        "invalid_arguments",
        f"The arguments of {tool.name} do not fit{where}: {first['problem']}{more}.",
        f"Expected {', '.join(tool.parameters.names) or 'no parameters'}, as the input schema says.",
        "Correct them and call again.",
        problems=list(problems[:_PROBLEMS_MAX]),
    )


def list_problems(error: pydantic.ValidationError) -> list[dict[str, str]]:
    """List pydantic's errors as places and words, without the values."""
    every = error.errors(include_url=False, include_input=False, include_context=False)
    return [
        {
            "path": ".".join(map(str, each["loc"]))[:200],
            "problem": each["msg"].replace("Value error, ", "")[:300],
        }
        for each in every
    ]


def check_size(operation: Operation, size: int, what: str) -> None:
    """Refuse arguments or a result that are larger than agreed: ``contract_violation``."""
    allowed = operation.session.contract.limits.payload_bytes
    if size > allowed:
        raise refuse_limit(
            "payload_bytes",
            f"The {what} of {operation.tool.name} takes {pluralize(size, 'byte')}.",
            f"Expected at most {allowed}, as the contract says.",
            "Ask for less at a time, or for a contract with a larger limit.",
            bytes=size,
            allowed=allowed,
        )


def check_permissions(operation: Operation) -> None:
    """Hold class, needs and level of a tool against caller, contract and backend.

    ``nondeterministic_refused``, ``capability_missing``; ``execution_failed`` of a part that may write where it may not.
    """
    tool, session, outer = operation.tool, operation.session, operation.outer
    kind, asked = tool.determinism, operation.require.determinism
    if outer is not None and outer.tool.reads_only and not tool.reads_only:
        raise blame_tool(  # No way back is kept for what reads only.
            f"{outer.tool.name} is declared to read only, and calls {tool.name}, which may write.",
            "Expected its parts to read only as well.",
            path=list(operation.path),
        )
    weak = _find_weak_part(tool, operation.require)
    if weak is not None and asked is not None:
        by = "" if weak == [tool.name] else f", because of its step {' > '.join(weak[1:])}"
        raise _refuse(
            operation,
            f"{tool.name} is {kind.value}{by}; {asked.value} was required.",
            f"Expected a tool that is {asked.value} at least.",
            "Require less, or use another tool.",
            declared=kind.value,
            required=asked.value,
            step=weak,
        )
    breaking = tool.needs.breaking()
    if breaking and kind is not Determinism.NONDETERMINISTIC:
        raise _refuse(
            operation,
            f"{tool.name} is declared {kind.value} and needs {', '.join(breaking)}.",
            "Expected no such need: nothing that reads the world gives the same result every time.",
            "Declare it nondeterministic, or hand in what it needs as arguments.",
            declared=kind.value,
            needs=list(breaking),
        )
    _check_needs(operation)
    permissions = session.contract.permissions
    if kind is Determinism.NONDETERMINISTIC and not permissions.nondeterministic:
        raise _refuse(
            operation,
            f"{tool.name} is nondeterministic, and the contract does not permit that.",
            "Expected a class that promises something.",
            'Use another tool, or a contract with {"permissions": {"nondeterministic": true}}.',
        )
    level, required = session.level(tool), operation.require.level
    if not operation.require.tried_by(level):
        raise _refuse(
            operation,
            f"The declaration of {tool.name} was tried to the level {level.value}.",
            f"Expected {required.value}, as the contract says.",
            "Try it: twice tools verify.",
            level=level.value,
            required_level=required.value,
        )


def _find_weak_part(tool: Tool, require: Requirement) -> list[str] | None:
    """Return the path of names to the first part that guarantees too little, or None."""
    if require.met_by(tool.determinism):
        return None
    paths = (_find_weak_part(each, require) for each in tool.uses)
    return [tool.name, *next((path for path in paths if path is not None), [])]


def _check_needs(operation: Operation) -> None:
    tool, contract = operation.tool, operation.session.contract
    for need in ("network", "ui"):
        if not getattr(tool.needs, need) or getattr(contract.permissions, need):
            continue
        asked = operation.require.determinism
        raise CallRefused(
            "capability_missing" if asked is None else "nondeterministic_refused",
            f"{tool.name} needs {need}, and the contract does not permit that.",
            "Expected every need to be permitted.",
            f'Use another tool, or a contract with {{"permissions": {{"{need}": true}}}}.',
            need=need,
        )
    for key, wanted, there in tool.needs.unmet(contract.profile):
        raise CallRefused(
            "capability_missing",
            f"{tool.name} needs {key} {wanted or 'of any version'}; the backend has {there or 'none'}.",
            "Expected a backend with that profile.",
            "Open the session on such a backend.",
            need=key,
            wanted=wanted,
            there=there,
        )


def find_seed(operation: Operation) -> Seeded | None:
    """Return the seed of a call: its parameter, else the outer call's or the session's, else ``seed_required``."""
    tool, given, outer = operation.tool, operation.arguments, operation.outer
    if tool.determinism is not Determinism.SEEDED:
        return None
    if given.seed is not None:
        return Seeded(given.seed, "parameter", given.call_key)
    if outer is not None and outer.seeded is not None:
        seed = outer.seeded.working
        if outer.tool.derives == "steps":
            step = path_segments(f"call/{operation.path[-1]}")
            seed = derive_in(seed, "tool", outer.tool.name, *step)
        return Seeded(seed, "macro", given.call_key)
    session_seed = operation.session.contract.seed
    if session_seed is not None:
        return Seeded(session_seed, "session", given.call_key)
    raise CallRefused(
        "seed_required",
        f"{tool.name} is seeded, and neither the call nor the session has a seed.",
        "Expected the parameter seed, or a contract with a session_seed.",
        "Call it with a seed, for example 42.",
        tried=["parameter", *(["macro"] if outer is not None else []), "session"],
    )


def check_part(operation: Operation, name: str, step: str) -> None:
    """Refuse a part that is not declared, contains itself, lies too deep, or takes a step's seed again."""
    tool, why = operation.tool, ""
    above: Operation | None = operation
    while above is not None:
        if above.tool.name == name:
            why = f"{name} is called inside of itself"
        above = above.outer
    if tool.is_macro and name not in [each.name for each in tool.uses]:
        why = f"it calls {name}, and is not declared to use it"
    elif len(operation.path) >= DEPTH_MAX:
        why = f"calls lie deeper than {DEPTH_MAX} levels"
    elif step in operation.steps_taken and tool.derives == "steps":
        why = f"two parts are both called {step}: name them by step="
    if why:
        raise blame_tool(
            f"{tool.name} failed: {why}.",
            "Expected declared parts that end, each with a name of its own.",
            path=[*operation.path, step],
        )


def _refuse(
    operation: Operation, happened: str, expected: str, remedy: str, **details: object
) -> CallRefused:
    details = {"tool": operation.tool.name, "path": list(operation.path), **details}
    return CallRefused("nondeterministic_refused", happened, expected, remedy, **details)
