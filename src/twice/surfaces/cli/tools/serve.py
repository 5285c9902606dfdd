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

import argparse
import contextlib
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from twice.errors import ExtraMissing, UsageError
from twice.surfaces.cli.tools.offering import add_certificates, add_offer, levels_of, offer_of


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("registry", metavar="REGISTRY", help="built-in name or module:name")
    parser.add_argument("-o", "--out", metavar="FILE", help="the record of the session")
    parser.add_argument("--force", action="store_true", help="replace an existing record")
    parser.add_argument("--http", metavar="HOST:PORT", help="serve over HTTP; port 0 is any")
    parser.add_argument("--token-file", metavar="FILE", help="the bearer token, one line")
    parser.add_argument(
        "--python", default="", metavar="FILE", help="the interpreter that the tools run in"
    )
    add_offer(parser)
    add_certificates(parser)


def run(options: argparse.Namespace) -> int:
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

    token = _token(options.token_file)
    place = None if options.http is None else _place(options.http)
    if place is not None:
        transports.require_token(place[0], token)
    levels = {key: str(level) for key, level in levels_of(options, options.python).items()}
    with contextlib.ExitStack() as stack:
        listening = None if place is None else stack.enter_context(transports.bound(*place))
        out = options.out
        if out is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="twice-tools-"))
            out = str(Path(folder) / "session.twice")
        session = stack.enter_context(
            HostedSession(
                options.registry,
                out,
                offer=offer_of(options),
                levels=levels,
                force=options.force,
                python=options.python,
            )
        )
        server = server_of(session, options.registry)
        payload_bytes = session.contract["limits"]["payload_bytes"]
        with _ended_by_signals():
            if place is None or listening is None:
                transports.serve_stdio(server, payload_bytes=payload_bytes)
            else:
                transports.serve_http(
                    server,
                    place[0],
                    listening,
                    token,
                    lambda port: _ready(place[0], port),
                    payload_bytes=payload_bytes,
                )
    if options.out is not None:
        sys.stderr.write(f"recorded {options.out}\nnext: twice verify {options.out}\n")
    return 0


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Take SIGTERM and SIGHUP as a terminal's interrupt; once it is over they wait for the record."""

    def stopped(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signals = (signal.SIGTERM, signal.SIGHUP)
    for each in signals:
        signal.signal(each, stopped)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            yield
    finally:
        for each in signals:
            signal.signal(each, signal.SIG_IGN)


def _ready(host: str, port: int) -> None:
    name = f"[{host}]" if ":" in host else host
    sys.stderr.write(f"serving http://{name}:{port}/mcp\n")
    sys.stderr.flush()


def _place(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise UsageError(
            f"--http {text} names no place to listen at.",
            "Expected an address and a port from 0 to 65535.",
            "For example: --http 127.0.0.1:8931",
        )
    return host.strip("[]"), int(port)


def _token(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        token = Path(path).read_text("utf-8").strip()
    except (OSError, ValueError) as error:
        raise UsageError(
            f"The token file {path} cannot be read: {error}.",
            "Expected a text file with one line.",
            "Make one: python -c 'import secrets; print(secrets.token_urlsafe())' > token.txt",
        ) from error
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise UsageError(
            f"The token file {path} holds no token.",
            "Expected one line of printable ASCII without spaces.",
            "Make one: python -c 'import secrets; print(secrets.token_urlsafe())' > token.txt",
        )
    return token
