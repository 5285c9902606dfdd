"""The process that carries out trials: ``python -m twice.tools.verification``.

It loads the registry once, in its surroundings, and does each job in a fork. Where it has threads it cannot fork: it
does one job and ends. Every trial begins in an empty folder, and what tools print is dropped.

Invariant: it answers every job once, also where the fork that does it dies.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from twice.foundation.dataclass_codec import to_plain
from twice.foundation.source_files import is_user_file
from twice.recorder.child import serve
from twice.recorder.environment.fingerprint import measure, settings_at_start
from twice.recorder.environment.libraries import load_numpy_for_forks
from twice.recorder.interrupts import ignore
from twice.recorder.user_code import digest_sources, list_user_modules
from twice.tools.cases import Case
from twice.tools.deadlines import now_s
from twice.tools.declaration import Tool
from twice.tools.registry import Registry, find_registry
from twice.tools.verification.cases import choose_cases, read_cases
from twice.tools.verification.report import RegistryDescription, ToolDescription, parse
from twice.tools.verification.trial import ToolTrial, TrialPoint, run_trial
from twice.worker.channel import Channel
from twice.worker.fork_server import call_in_fork, count_threads


def handle(job: Mapping[str, Any], channel: Channel) -> None:
    """Load the registry, say what surroundings it found, then do jobs until the parent is gone."""
    settings = settings_at_start()
    if job["folder"] not in sys.path:
        sys.path.insert(0, job["folder"])
    load_numpy_for_forks()
    registry = find_registry(job["registry"])
    is_fit, limit_s = count_threads() == 1, job["limit_s"]
    channel.send({"kind": "ready", "is_fit": is_fit, "settings": settings})
    while job := channel.receive() or {}:
        began_s = now_s()
        do = partial(do_job, registry, job)
        answer: Any = call_in_fork(do, limit_s) if is_fit else do()
        if answer is None:
            is_late = now_s() - began_s >= limit_s
            said = f"it took longer than {limit_s:g} s" if is_late else "its process died"
            answer = {"point": to_plain(TrialPoint(lost=said))}
        channel.send({"kind": "done", **answer})
        if not is_fit:
            return


def do_job(registry: Registry, job: Mapping[str, Any]) -> dict[str, Any]:
    """Carry out a trial, or describe the registry."""
    if "trial" in job:
        return {"point": to_plain(run_trial(registry, parse(ToolTrial, job["trial"])))}
    found: dict[str, Any] = to_plain(describe(registry, job["cases"]))
    return found


def describe(registry: Registry, cases: str) -> RegistryDescription:
    """Describe a registry, its backend, its sources and this environment.

    Args:
        registry: that was loaded.
        cases: path of a file of cases; empty for none.

    Raises:
        UsageError: E-USE-001, when it is no such file.
    """
    backend = registry.open_backend()
    given = read_cases(Path(cases), registry.names) if cases else {}
    tools = [_describe_tool(each, given.get(each.name, ())) for each in registry]
    named = [Path(each.source[0]).resolve() for each in tools if each.source]
    files = sorted({*list_user_modules(), *(path for path in named if is_user_file(str(path)))})
    root = Path(os.path.commonpath([path.parent for path in files])) if files else Path()
    return RegistryDescription(
        registry_fingerprint=registry.fingerprint,
        backend="" if backend is None else backend.name,
        profile={} if backend is None else {k: str(v) for k, v in backend.profile().items()},
        # A module that a tool imports only when it is called is not among them.
        sources=digest_sources(files, root),
        environment=measure(probes=False).to_json(),
        tools=tuple(tools),
    )


def _describe_tool(tool: Tool, given: Sequence[Case]) -> ToolDescription:
    source = None
    with suppress(OSError, TypeError):
        lines, first = inspect.getsourcelines(tool.function)
        source = (inspect.getfile(tool.function), first, first + len(lines) - 1)
    cases, origin, why = choose_cases(tool, given)
    return ToolDescription(
        tool.name, tool.fingerprint, tool.determinism.value, tool.reads_only, tool.idempotent, tool.is_macro,
        None if tool.tolerance is None else tool.tolerance.to_json(), source, origin, cases, why,
    )  # fmt: skip


if __name__ == "__main__":
    ignore()
    serve(handle)
