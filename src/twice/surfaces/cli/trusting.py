"""``--trust`` and ``--allow`` of the commands that execute a record.

Invariant: what a record from elsewhere may use of the world stands on the command line.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from twice.errors import UsageError
from twice.recording.sealing.inventory import parse_allowed
from twice.replayer.preconditions import trusting


def add_trust(parser: argparse.ArgumentParser, *, allows: bool = True) -> None:
    """Declare both options.

    Args:
        parser: the command's.
        allows: whether ``--allow`` is declared here, and not with what a recording is told.
    """
    parser.add_argument(
        "--trust", action="store_true", help="execute a record that another account made"
    )
    if allows:
        parser.add_argument(
            "--allow", action="append", default=[], metavar="NAME",
            help="what a record that another account made may use of the world; with --trust",
        )  # fmt: skip


@contextmanager
def trust_records(options: argparse.Namespace, records: Sequence[Path]) -> Iterator[None]:
    """Trust the records of a command for as long as the block runs, where the user said so.

    Raises:
        UsageError: E-USE-001, when something is allowed that nobody trusts.
    """
    if not options.trust:
        if getattr(options, "allow", ()) and records:
            raise UsageError(
                "--allow was given without --trust.",
                "Expected both: a record that this account made keeps what it was allowed.",
                "For a record from elsewhere: --trust --allow NAME",
            )
        yield
        return
    with ExitStack() as stack:
        for record in records:
            stack.enter_context(
                trusting(record, allow=parse_allowed(getattr(options, "allow", ())))
            )
        yield
