"""Serve the verbs of twice to a coding agent over the Model Context Protocol.

  twice mcp --root .
  twice mcp --root . --allow-run
  twice mcp --root . --allow-run --http 127.0.0.1:8931 --token-file token.txt

Over standard input and output unless --http is given. Without --allow-run the server only looks: check, review,
show_state, records, and the reports of gate and spec. With it, it also runs programs and writes files, below the
roots alone. A record that another account made is executed only if the user agrees. Exit code 0 when it was told to
stop, 2 wrong use.
"""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import Annotated

from twice.cli.listening import end_by_signals, needs_protocol, parse_place, read_token
from twice.cli.options import build_command, option
from twice.errors import UsageError


@build_command
def command(
    roots: Annotated[tuple[Path, ...], option("--root DIR", "a folder that may be touched; the first is the project")],
    allow_run: Annotated[bool, option("--allow-run", "run programs, and write files, below the roots")],
    http: Annotated[str | None, option("--http HOST:PORT", "serve over HTTP on this machine; port 0 is any")],
    token_file: Annotated[Path | None, option("--token-file FILE", "with --http: the bearer token, one line; else one is made and printed")],
) -> int:  # fmt: skip
    """Serve until the client hangs up or a signal says stop."""
    with needs_protocol():
        from twice.agent.roots import open_roots
        from twice.agent.server import AgentServer
        from twice.tools.mcp import transports
    server = AgentServer(open_roots(roots or (Path(),)), may_execute=allow_run).build()
    if http is None:
        transports.serve_stdio(server, payload_bytes=_ARGUMENTS_BYTES)
        return 0
    host, port = parse_place(http)
    if not transports.is_this_machine(host):
        raise UsageError(
            f"{host} can be reached from other machines.",
            "Expected an address of this machine: what the server runs, it runs as you.",
            "For example: --http 127.0.0.1:8931",
        )
    token = secrets.token_urlsafe() if token_file is None else read_token(token_file)

    def announce(url: str) -> None:
        said = f", token {token}" if token_file is None else ""
        print(f"serving {url}{said}", file=sys.stderr, flush=True)

    with transports.bind(host, port) as place, end_by_signals():
        transports.serve_http(server, host, place, token, announce, payload_bytes=_ARGUMENTS_BYTES)
    return 0


_ARGUMENTS_BYTES = 1 << 20
