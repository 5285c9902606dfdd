"""Try to prove the declarations of a registry's tools wrong, and say what was seen.

  twice tools verify tables
  twice tools verify my/tools.py:registry scatter.points --json
  twice tools verify my/tools.py:registry --cases cases.json --certificates certificates

Each tool is called from one state: twice in two processes, once with everything perturbed at once
(hash seed, clock, processors, time zone, locale, home, folders, orders, addresses, network), and what
differs is tried factor by factor. Then: another seed, a second call, steps one by one, a restored start.

The tools run without enforcement, so a tool that is not yours runs with all that you may do. Cases
are those of --cases, else those that stand with the declaration, else one made from the schema.
--certificates writes one file for each tool; sessions read them. No difference seen is no proof.

Exit code 0 no declaration was broken, 1 one was, 2 of a tool it could not be told, or wrong use.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from twice.cli.commands.tools.session import python_option
from twice.cli.console import Status
from twice.cli.group import make_command
from twice.cli.options import PATH, json_option
from twice.cli.output import tell
from twice.errors import UsageError

if TYPE_CHECKING:
    from twice.tooling.verifying.verification import Suspicion
    from twice.tooling.verifying.verifying import Checker

_SURE = 0.7


@make_command(
    click.argument("registry"),
    click.argument("tool", required=False),
    click.option("--cases", type=PATH, metavar="FILE", help="what to try them with, as JSON"),
    click.option(
        "--certificates", type=PATH, metavar="DIR",
        help="write certificates there; repeat those of other hosts",
    ),
    python_option,
    click.option(
        "--seconds", type=float, default=60.0, metavar="S", help="how long one trial may take"
    ),
    json_option,
)  # fmt: skip
def command(
    registry: str,
    tool: str | None,
    cases: Path | None,
    certificates: Path | None,
    python: str,
    seconds: float,
    as_json: bool,
) -> int:
    """Verify, write, print."""
    from twice.tooling.verifying.certificates import write_certificates
    from twice.tooling.verifying.verifying import verify_tools

    if not 0 < seconds < float("inf"):
        raise UsageError(
            f"--seconds is {seconds}.", "Expected a number above 0.", "For example: --seconds 60"
        )
    with Status() as status:
        found = verify_tools(
            registry,
            tool,
            cases=cases,
            certificates=certificates,
            python=python,
            limit_s=seconds,
            checker=source_checker(),
            progress=status,
        )
    lines = [*found.lines(), *(f"certificate: {each}" for each in found.said)]
    if certificates is not None and (written := write_certificates(certificates, found)):
        lines += [
            f"{len(written)} certificates in {certificates}",
            f"next: twice tools call {registry} TOOL --certificates {certificates}",
        ]
    return tell(found.to_json(), lines, as_json=as_json, code=found.exit_code)


def source_checker() -> Checker:
    """Give what finds suspicious places in the lines of a tool: the rules of ``twice check``.

    A file is read once, nothing is executed, and a finding that a comment settles is none.
    """
    from twice.checking.findings import Reach
    from twice.checking.looked import Looked
    from twice.checking.looking import look_at_bytes
    from twice.checking.reader import Reader
    from twice.tooling.verifying.verification import Suspicion

    reader = Reader()
    arranged = reader.index()
    today = datetime.now(UTC).date().isoformat()
    looked: dict[str, Looked] = {}

    def check(path: str, text: str, first: int, last: int) -> list[Suspicion]:
        if path not in looked:
            looked[path] = look_at_bytes(path, text.encode(), "", reader, arranged)
        ignores = [
            each
            for each in looked[path].remarks.ignores
            if not each.fault and not each.has_expired(today)
        ]
        return [
            Suspicion(each.rule, f"{Path(path).name}:{each.place.line}", each.message)
            for each in looked[path].found
            if first <= each.place.line <= last
            and each.reach is not Reach.QUIET
            and each.confidence >= _SURE
            and not any(
                each.rule in comment.rules and comment.first <= each.place.line <= comment.last
                for comment in ignores
            )
        ]

    return check
