"""Serve a registry to a host over the Model Context Protocol; the session is a record.

  twice tools serve tables -o session.twice --session-seed 42
  twice tools serve my/tools.py:registry --http 127.0.0.1:8931
  twice tools serve tables --http 0.0.0.0:8931 --token-file token.txt

Over standard input and output unless --http is given. All clients share one state, and calls wait
for each other. The record is finished when the client hangs up, or by Ctrl-C, SIGTERM or SIGHUP;
verify, diagnose, replay and branch work on it. Without -o it is thrown away. Bound to any address but this machine's
the server asks for the token as a bearer. Exit code 0 when it was told to stop, 2 wrong use.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Final

import click

from twice.cli.commands.tools.session import SessionOptions, python_option, session_options
from twice.cli.group import make_command
from twice.cli.options import PATH
from twice.errors import ExtraMissing, UsageError

_REMEDY: Final = "Make one: python -c 'import secrets; print(secrets.token_urlsafe())' > token.txt"


@make_command(
    click.argument("registry"),
    click.option("-o", "--out", metavar="FILE", help="the record of the session"),
    click.option("--force", is_flag=True, help="replace an existing record"),
    click.option("--http", metavar="HOST:PORT", help="serve over HTTP; port 0 is any"),
    click.option("--token-file", type=PATH, metavar="FILE", help="the bearer token, one line"),
    python_option,
    session_options,
)
def command(
    registry: str,
    out: str | None,
    force: bool,
    http: str | None,
    token_file: Path | None,
    python: str,
    session: SessionOptions,
) -> int:
    """Open the session, serve it, finish its record."""
    try:
        from twice.tooling.serving import transports
        from twice.tooling.serving.server import server_of
    except ImportError as error:
        raise ExtraMissing(
            f"The Model Context Protocol's SDK cannot be imported: {error}.",
            "Expected mcp 2.3 or newer.",
            "Install it: pip install 'twice[mcp]'",
        ) from error
    from twice.tooling.hosting.host import HostedSession

    token = None if token_file is None else _read_token(token_file)
    place = None if http is None else _parse_place(http)
    if place is not None:
        transports.require_token(place[0], token)
    levels = {key: str(level) for key, level in session.levels(registry, python).items()}
    with contextlib.ExitStack() as stack:
        listening = None if place is None else stack.enter_context(transports.bound(*place))
        record = out
        if record is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="twice-tools-"))
            record = str(Path(folder) / "session.twice")
        hosted = stack.enter_context(
            HostedSession(
                registry, record, offer=session.offer(), levels=levels, force=force, python=python
            )
        )
        server = server_of(hosted, registry)
        payload_bytes = hosted.contract["limits"]["payload_bytes"]
        with _end_by_signals():
            if place is None or listening is None:
                transports.serve_stdio(server, payload_bytes=payload_bytes)
            else:
                transports.serve_http(
                    server,
                    place[0],
                    listening,
                    token,
                    lambda port: _say_ready(place[0], port),
                    payload_bytes=payload_bytes,
                )
    if out is not None:
        sys.stderr.write(f"recorded {out}\nnext: twice verify {out}\n")
    return 0


@contextlib.contextmanager
def _end_by_signals() -> Iterator[None]:
    """Take SIGTERM and SIGHUP as a terminal's interrupt; once it is over they wait for the record."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signals = (signal.SIGTERM, signal.SIGHUP)
    for each in signals:
        signal.signal(each, stop)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            yield
    finally:
        for each in signals:
            signal.signal(each, signal.SIG_IGN)


def _say_ready(host: str, port: int) -> None:
    name = f"[{host}]" if ":" in host else host
    sys.stderr.write(f"serving http://{name}:{port}/mcp\n")
    sys.stderr.flush()


def _parse_place(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise UsageError(
            f"--http {text} names no place to listen at.",
            "Expected an address and a port from 0 to 65535.",
            "For example: --http 127.0.0.1:8931",
        )
    return host.strip("[]"), int(port)


def _read_token(path: Path) -> str:
    try:
        token = path.read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        raise UsageError(
            f"The token file {path} cannot be read: {error}.",
            "Expected a text file with one line.",
            _REMEDY,
        ) from error
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            f"The token file {path} holds no token.",
            "Expected one line of printable ASCII without spaces.",
            _REMEDY,
        )
    return token
