"""Where a server listens, the token that it asks for, and how it ends, for the command line.

Invariant: no token is given as an argument, which other accounts of the machine can read.
"""

from __future__ import annotations

import html
import signal
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from twice.errors import ExtraMissing, UsageError


@contextmanager
def needs_protocol() -> Iterator[None]:
    """Import what serves the Model Context Protocol.

    Raises:
        ExtraMissing: E-EXTRA-001, when its SDK is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise ExtraMissing(
            f"The Model Context Protocol's SDK cannot be imported: {error}.",
            "Expected mcp 2.3 or newer.",
            "Install it: pip install 'twice[mcp]'",
        ) from error


def parse_place(text: str) -> tuple[str, int]:
    """Read ``--http HOST:PORT``.

    Raises:
        UsageError: E-USE-001.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise UsageError(
            f"--http {text} names no place to listen at.",
            "Expected an address and a port from 0 to 65535.",
            "For example: --http 127.0.0.1:8931",
        )
    return host.strip("[]"), int(port)


def read_token(path: Path) -> str:
    """Read the bearer token from a file.

    Raises:
        UsageError: E-USE-001.
    """
    try:
        token = path.read_text("utf-8").strip()
        if token and token.isascii() and token.isprintable() and " " not in token:
            return token
        why = "holds no token"
    except (OSError, ValueError) as error:
        why = f"cannot be read: {error}"
    raise UsageError(
        f"The token file {path} {why}.",
        "Expected one line of printable ASCII without spaces.",
        "Make one: python -c 'import secrets; print(secrets.token_urlsafe())' > token.txt",
    )


@contextmanager
def open_browser(url: str) -> Iterator[bool]:
    """Show a page whose address has a token in it; False where there is no browser."""
    with TemporaryDirectory(prefix="twice-view-") as folder:  # that nobody else may read
        page = Path(folder) / "open.html"
        address = html.escape(url)
        page.write_text(
            f'<!doctype html><meta http-equiv="refresh" content="0; url={address}"><a href="{address}">twice view</a>\n'
        )
        yield webbrowser.open(page.as_uri())


@contextmanager
def end_by_signals() -> Iterator[None]:
    """Serve until SIGTERM, SIGHUP or a terminal's interrupt; afterwards the first two are ignored, so that work ends."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signals = (signal.SIGTERM, signal.SIGHUP)
    for each in signals:
        signal.signal(each, stop)
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
