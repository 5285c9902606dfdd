"""Look at runs on a page of this machine: drag along the ticks, put two side by side, branch from there.

  twice view a.twice
  twice view a.twice b.twice
  twice view a.twice --port 8930 --no-browser

The first line of the output is the address, with a token that the page needs. Only this machine can ask, and nothing is
loaded from elsewhere. To look executes nothing: a record from a stranger is safe to open. The buttons that execute a
program say so.

It serves until you interrupt it. Exit code 0 then, 2 for wrong use.
"""

from __future__ import annotations

from contextlib import closing, nullcontext
from pathlib import Path
from typing import Annotated

import click

from twice.cli.listening import end_by_signals, open_browser
from twice.cli.options import RECORD, argument, build_command, option
from twice.cli.output import print_beside
from twice.cli.run_options import TrustOptions
from twice.view.server import ViewServer
from twice.view.viewed_runs import ViewedRuns


@build_command
def command(
    records: Annotated[tuple[Path, ...], argument(metavar="RECORD...", required=True, type=RECORD)],
    trust: TrustOptions,
    port: Annotated[int, option("--port N", "where to listen; 0 is any port that is free", type=click.IntRange(0, 65535))] = 0,
    opens: Annotated[bool, option("--no-browser", "only print the address")] = True,
) -> int:  # fmt: skip
    """Serve the page."""
    words = [part for name in trust.allow for part in ("--allow", name)]
    words = ["--trust", *words] if trust.trust else []
    with (
        trust.trusting(*records),
        closing(ViewedRuns(records)) as runs,
        ViewServer(runs, port, words) as server,
    ):
        print(server.url, flush=True)
        with open_browser(server.url) if opens else nullcontext(True) as is_open, end_by_signals():
            if not is_open:
                print_beside("no browser was found: open the address in one of this machine")
            server.serve_forever()
    return 0
