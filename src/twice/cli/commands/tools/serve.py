"""Serve a registry to a host over the Model Context Protocol; the session is a record.

  twice tools serve memory -o session.twice --session-seed 42
  twice tools serve my/tools.py:registry --http 127.0.0.1:8931
  twice tools serve memory --http 0.0.0.0:8931 --token-file token.txt

Over standard input and output unless --http is given. All clients share one state, and calls wait
for each other. The record is finished when the client hangs up, or by Ctrl-C, SIGTERM or SIGHUP;
verify, diagnose, replay and branch work on it. Without -o it is thrown away. Bound to any address but this machine's
the server asks for the token as a bearer. Exit code 0 when it was told to stop, 2 wrong use.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Annotated

from twice.cli.commands.tools.call import Python, SessionOptions
from twice.cli.listening import end_by_signals, needs_protocol, parse_place, read_token
from twice.cli.options import argument, build_command, option


@build_command
def command(
    registry: Annotated[str, argument()],
    out: Annotated[str | None, option("-o, --out FILE", "the record of the session")],
    force: Annotated[bool, option("--force", "replace an existing record")],
    http: Annotated[str | None, option("--http HOST:PORT", "serve over HTTP; port 0 is any")],
    token_file: Annotated[Path | None, option("--token-file FILE", "the bearer token, one line")],
    python: Python,
    session: SessionOptions,
) -> int:
    """Open the session, serve it, finish its record."""
    with needs_protocol():
        from twice.tools.mcp import transports
        from twice.tools.mcp.server import build_server
    from twice.tools.worker.host import HostedSession

    token = None if token_file is None else read_token(token_file)
    host, port = parse_place(http or "localhost:0")
    transports.require_token(host, token)
    levels = {key: str(level) for key, level in session.find_levels(registry, python).items()}
    with contextlib.ExitStack() as stack:
        place = None if http is None else stack.enter_context(transports.bind(host, port))
        folder = out or stack.enter_context(tempfile.TemporaryDirectory(prefix="twice-tools-"))
        hosted = stack.enter_context(
            HostedSession(
                registry, out or str(Path(folder) / "session.twice"), offer=session.to_offer(),
                levels=levels, force=force, python=python,
            )
        )  # fmt: skip
        server, size = build_server(hosted, registry), hosted.contract["limits"]["payload_bytes"]
        with end_by_signals():
            if place is None:
                transports.serve_stdio(server, payload_bytes=size)
            else:
                announce = partial(print, "serving", file=sys.stderr, flush=True)
                transports.serve_http(server, host, place, token, announce, payload_bytes=size)
    if out is not None:
        sys.stderr.write(f"recorded {out}\nnext: twice verify {out}\n")
    return 0
