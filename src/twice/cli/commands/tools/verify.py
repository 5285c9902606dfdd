"""Try to prove the declarations of a registry's tools wrong, and say what was seen.

  twice tools verify tables
  twice tools verify my/tools.py:registry scatter.points --json
  twice tools verify my/tools.py:registry --cases cases.json
  twice tools verify my/tools.py:registry --certificates certificates

Each tool is called from one state: twice in two processes, once with everything perturbed at once
(hash seed, clock, processors, time zone, locale, home, folders, orders, addresses, network), and what
differs is tried factor by factor. Then: another seed, a second call, steps one by one, a restored start.

The tools run without enforcement, so a tool that is not yours runs with all that you may do. Cases
are those of --cases, else those that stand with the declaration, else one made from the schema.
--certificates writes one file for each tool; sessions read them. No difference seen is no proof.

Exit code 0 no declaration was broken, 1 one was, 2 of a tool it could not be told, or wrong use.
"""

from __future__ import annotations

import functools
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
from twice.foundation.printable import pluralize

if TYPE_CHECKING:
    from twice.checker.findings import Finding
    from twice.tools.verification.result import Suspicion

_SURE = 0.7


@build_command
def command(
    registry: Annotated[str, argument()],
    tool: Annotated[str | None, argument()],
    cases: Annotated[Path | None, option("--cases FILE", "what to try them with, as JSON")],
    certificates: Annotated[Path | None, option(
        "--certificates DIR", "write certificates there; repeat those of other hosts")],
    python: Python,
    seconds: Annotated[float, option(
        "--seconds S", "how long one trial may take", default=60.0, type=click.FloatRange(0, 1e6, min_open=True))],
    as_json: AsJson,
) -> int:  # fmt: skip
    """Verify, write, print."""
    from twice.tools.verification.certificates import write_certificates
    from twice.tools.verification.verify import verify_tools

    with Status() as status:
        found = verify_tools(
            registry,
            tool,
            cases=cases,
            certificates=certificates,
            python=python,
            limit_s=seconds,
            checker=find_suspicions if has_wing("checker") else None,
            progress=status,
        )
    lines = [*found.lines(), *(f"certificate: {each}" for each in found.said)]
    if certificates is not None and (written := write_certificates(certificates, found)):
        lines += [
            f"{pluralize(len(written), 'certificate')} in {certificates}",
            f"next: twice tools call {registry} TOOL --certificates {certificates}",
        ]
    return tell(found.to_json(), lines, as_json=as_json, code=found.exit_code)


def find_suspicions(path: str, first: int, last: int) -> list[Suspicion]:
    """Find suspicious places in the lines of a tool, by the rules of ``twice check``; nothing is executed.

    Args:
        path: the file.
        first: the first line that counts.
        last: the last one.
    """
    from twice.checker.findings import Reach
    from twice.tools.verification.result import Suspicion

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
