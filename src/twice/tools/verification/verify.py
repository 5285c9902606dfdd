"""Try to prove the declarations of a registry wrong, tool by tool, and say what was seen.

Of the source, the rules that only tools have are asked here. Rules about programs at large (iteration over sets, clocks,
global generators, listings) are the checker's, which the caller hands in.

Not for: tools that promise nothing; they are named and left alone.

Invariant: this process never loads the registry.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from twice.errors import UsageError
from twice.foundation.dataclass_codec import to_plain
from twice.foundation.digests import Algorithm, digest_bytes
from twice.tools.determinism import Determinism, Level
from twice.tools.verification.examination import Examination, advance
from twice.tools.verification.processes import NAMES, Progress, TrialProcesses
from twice.tools.verification.report import (
    ANOTHER_HOST,
    CaseResult,
    Exposure,
    ProcessCount,
    RegistryDescription,
    RegistryVerification,
    StaticReading,
    Suspicion,
    ToolDescription,
    ToolVerdict,
    ToolVerification,
    choose_levels,
    compare_hosts,
    parse,
    read_verification,
)
from twice.tools.verification.trial import ToolTrial

LIMIT_S: Final = 60.0
_PAST_MAX: Final = 3
"""Other cases that are in the past of a process."""


def verify_tools(
    registry: str,
    tool: str | None = None,
    *,
    cases: Path | None = None,
    verified: Sequence[Path] = (),
    python: str = "",
    limit_s: float = LIMIT_S,
    checker: Checker | None = None,
    progress: Progress | None = None,
) -> RegistryVerification:
    """Try the declarations of a registry's tools.

    Args:
        registry: its name: built in, ``module:name`` or ``file.py:name``.
        tool: one of them; all when None.
        cases: a file of cases.
        verified: verifications of other hosts, whose results are to come again here.
        python: the interpreter that the tools run in; empty for this one.
        limit_s: how long one trial may take, in seconds.
        checker: finds suspicious places in a source; without one no tool gets beyond ``declared``
            by its source, and its runs count all the same.
        progress: told what is being done.

    Raises:
        UsageError: E-USE-001, for a tool, a case or a verification that there is not.
        RegistryRefused: E-TOOL-002, when there is no such registry.
    """
    files = {str(path): read_verification(path) for path in verified}
    doing = progress or (lambda _: None)
    with TrialProcesses(registry, python=python, limit_s=limit_s, progress=doing) as made:
        here = parse(RegistryDescription, made.describe(cases))
        chosen = [each for each in here.tools if tool in (None, each.name)]
        if not chosen:
            raise UsageError(
                f"The registry {registry} has no tool {tool!r:.80}.",
                f"Expected one of: {', '.join(each.name for each in here.tools[:20])}.",
                f"List them: twice tools list {registry}",
            )
        seen: dict[str, list[Examination]] = {each.name: [] for each in chosen}
        for each in chosen:
            own = each.cases if each.determinism != Determinism.NONDETERMINISTIC else ()
            for at, case in enumerate(own):
                others = (*own[at + 1 :], *own[:at])[:_PAST_MAX]
                trial = ToolTrial(each.name, case, others)
                seen[each.name].append(Examination(each, trial, made))
        advance([each for several in seen.values() for each in several], made)
    elsewhere = {name: each for name, each in files.items() if each.host != here.host}
    rows = [_conclude(each, seen[each.name], here, elsewhere, checker) for each in chosen]
    count = ProcessCount(made.starts, round(made.starting_s, 3))
    found = {**vars(here), "tools": tuple(rows)}
    return RegistryVerification(registry=registry, processes=count, **found)


def find_levels(
    registry: str, verified: Iterable[Path], *, python: str = ""
) -> tuple[dict[str, Level], list[str]]:
    """Find the levels that verifications give a registry, by fingerprint; what counts as nothing, in words.

    Raises:
        UsageError: E-USE-001. RegistryRefused: E-TOOL-002.
    """
    files = {str(path): read_verification(path) for path in verified}
    quiet: Progress = lambda _: None  # noqa: E731
    with TrialProcesses(registry, python=python, limit_s=LIMIT_S, progress=quiet) as made:
        return choose_levels(files, parse(RegistryDescription, made.describe(None)))


def _conclude(
    tool: ToolDescription,
    seen: Sequence[Examination],
    here: RegistryDescription,
    others: Mapping[str, RegistryVerification],
    checker: Checker | None,
) -> ToolVerification:
    """Conclude from what was seen of a tool's cases to verdict and level."""
    static = read_source(tool, checker)
    cases = tuple(map(_summarize, seen))
    exposures = dict.fromkeys(found for each in seen for found in each.exposures)
    perturbed = {name for each in seen for name in each.perturbed}
    not_tried = {name: why for each in seen for name, why in each.not_tried.items()}
    hosts: dict[str, None] = {}
    for name, made in {} if exposures else others.items():
        differs = compare_hosts(tool.name, cases, made, here)
        if differs is None:
            not_tried[ANOTHER_HOST] = f"{name} has no case of these"
        elif differs:
            exposures[Exposure(ANOTHER_HOST, f"{name} says {differs}")] = None
        else:
            hosts[made.host] = None
    verdict, level = ToolVerdict.NO_DIFFERENCE, Level.DECLARED
    if static.read and not static.suspicions:
        level = Level.STATIC
    if exposures:
        verdict, level = ToolVerdict.EXPOSED, Level.DECLARED
    elif tool.determinism == Determinism.NONDETERMINISTIC:
        verdict = ToolVerdict.PROMISES_NOTHING
    elif not any(each.has_rerun and not each.failure for each in seen):
        verdict = ToolVerdict.COULD_NOT_TELL
        cases = cases or (CaseResult({}, "", tool.origin, tool.why, "", ""),)
    elif not static.suspicions:
        level = Level.PERTURBED if perturbed else Level.RERUN
        level = Level.CROSS_HOST if hosts else level
    return ToolVerification(
        tool.name, tool.fingerprint, tool.determinism, verdict.value, level.value,
        sum(each.runs for each in seen), round(sum(each.seconds for each in seen), 3), cases,
        tuple(name for name in NAMES if name in perturbed),
        tuple(dict.fromkeys(law for each in seen for law in each.laws)),
        tuple(exposures), static,
        {name: why for name, why in not_tried.items() if name not in perturbed}, tuple(hosts),
    )  # fmt: skip


def _summarize(seen: Examination) -> CaseResult:
    case, first = seen.trial.case, seen.first
    is_exact = first.ok and seen.tool.tolerance is None
    result = str(digest_bytes(first.result_form, Algorithm.SHA256)) if is_exact else ""
    state = first.after if first.ok else ""
    return CaseResult(to_plain(case), case.digest, seen.tool.origin, seen.failure, result, state)


_CONTEXT: Final = frozenset(
    {"active_object", "selected_objects", "selected_ids", "view_layer", "active", "mode_set"}
)
_OWNERS: Final = frozenset({"context", "view_layer", "objects"})

Checker = Callable[[str, int, int], Sequence[Suspicion]]
"""Finds suspicious places in a file: its path, and the first and last line that count."""


def read_source(tool: ToolDescription, checker: Checker | None) -> StaticReading:
    """Read the source of a tool by the rules about tools and by those of a checker."""
    if tool.source is None or checker is None:
        return StaticReading(False, ())
    path, first, last = tool.source
    try:
        nodes = [*ast.walk(ast.parse(Path(path).read_text(encoding="utf-8")))]
    except (OSError, ValueError):
        return StaticReading(False, ())
    except (SyntaxError, RecursionError, MemoryError):
        nodes = []
    own = [
        Suspicion(rule, f"{Path(path).name}:{line}", message)
        for node in nodes
        if first <= getattr(node, "lineno", 0) <= last
        for rule, line, message in _apply_rules(node)
    ]
    return StaticReading(True, (*own, *checker(path, first, last)))


def _apply_rules(node: ast.AST) -> Iterator[tuple[str, int, str]]:
    match node:
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield (
                "state-outside",
                node.lineno,
                f"{', '.join(names)} outlives the call and is in no state",
            )
        case ast.While(test=test) if any(
            isinstance(each, ast.Call) and getattr(each.func, "attr", "") == "holds"
            for each in ast.walk(test)
        ):
            yield "counter-name", node.lineno, "a name is counted up until it is free"
        case ast.Attribute(attr=name, value=ast.Attribute(attr=owner)) if (
            name in _CONTEXT and owner in _OWNERS
        ):
            yield "context-use", node.lineno, f"{name} is what a person selected"
        case ast.Call(
            func=ast.Attribute(attr="datetime64") | ast.Name(id="datetime64"),
            args=[ast.Constant(value="now" | "today"), *_],
        ):
            yield "clock", node.lineno, "datetime64 reads the clock"
