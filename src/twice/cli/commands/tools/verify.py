"""Try to prove the declarations of a registry's tools wrong, and say what was seen.

  twice tools verify memory
  twice tools verify my/tools.py:registry scatter.points --json
  twice tools verify my/tools.py:registry --cases cases.json
  twice tools verify my/tools.py:registry -o verified.json

Each tool is called from one state: twice in two processes, once with everything perturbed at once
(hash seed, clock, processors, time zone, locale, home, folders, orders, addresses, network), and what
differs is tried factor by factor. Then: another seed, a second call, steps one by one, a restored start.

The tools run without enforcement, so a tool that is not yours runs with all that you may do. Cases
are those of --cases, else those that stand with the declaration, else one made from the schema.
-o writes the JSON, which sessions read by --verified; of another host, it is repeated here. No difference seen
is no proof.

Exit code 0 no declaration was broken, 1 one was, 2 of a tool it could not be told, or wrong use.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from twice.cli.commands.tools.call import Python
from twice.cli.console import Status
from twice.cli.group import has_wing
from twice.cli.options import AsJson, argument, build_command, option
from twice.cli.output import tell
from twice.recorder.recorder import refuse_existing
from twice.writing import write

if TYPE_CHECKING:
    from twice.checker.findings import Finding
    from twice.tools.verification.report import Suspicion

_SURE = 0.7


@build_command
def command(
    registry: Annotated[str, argument()],
    tool: Annotated[str | None, argument()],
    cases: Annotated[Path | None, option("--cases FILE", "what to try them with, as JSON")],
    out: Annotated[Path | None, option("-o, --out FILE", "write the JSON there")],
    force: Annotated[bool, option("--force", "replace an existing file")],
    verified: Annotated[tuple[Path, ...], option("--verified FILE", "what -o wrote on another host")],
    python: Python,
    seconds: Annotated[float, option(
        "--seconds S", "how long one trial may take", default=60.0, type=click.FloatRange(0, 1e6, min_open=True))],
    as_json: AsJson,
) -> int:  # fmt: skip
    """Verify, write, print."""
    from twice.tools.verification.verify import verify_tools

    if out is not None:
        refuse_existing(out, force=force)
    with Status() as status:
        found = verify_tools(
            registry,
            tool,
            cases=cases,
            verified=verified,
            python=python,
            limit_s=seconds,
            checker=find_suspicions if has_wing("checker") else None,
            progress=status,
        )
    lines, document = [*found.lines()], found.to_json()
    if out is not None:
        write(out, (json.dumps(document, indent=2) + "\n").encode())
        lines.append(f"next: twice tools call {registry} TOOL --verified {out}")
    return tell(document, lines, as_json=as_json, code=found.exit_code)


def find_suspicions(path: str, first: int, last: int) -> list[Suspicion]:
    """Find suspicious places in the lines of a tool, by the rules of ``twice check``; nothing is executed."""
    from twice.checker.findings import Reach
    from twice.tools.verification.report import Suspicion

    return [
        Suspicion(each.rule, f"{Path(path).name}:{each.place.line}", each.message)
        for each in (finding.found for finding in _check(path))
        if first <= each.place.line <= last
        and each.reach is not Reach.QUIET
        and each.confidence >= _SURE
    ]


@functools.cache
def _check(path: str) -> Sequence[Finding]:
    """Check a file once; a finding that a comment settles is none."""
    from twice.checker.driver import check
    from twice.checker.policy import Policy
    from twice.checker.suppressions import apply_comments

    found, today = check([path], Policy()), datetime.now(UTC).date().isoformat()
    return apply_comments(found.findings, found.remarks, known=found.rules, today=today)[0]
