"""The server of the page: on this machine alone, and for those who have its token.

The token stands in the address that the command prints. Names other than this machine's are refused, so no page of
another site can ask here under a name of its own.

Invariant: nothing of a request is looked at before its token, and no answer runs a script but the page's own.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any, Final
from urllib.parse import parse_qs

from twice.errors import TwiceError, UsageError
from twice.view.executions import Executions
from twice.view.viewed_runs import ViewedRuns
from twice.worker.channel import tell_error

HOST: Final = "127.0.0.1"
_STATIC: Final = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/view.js": ("view.js", "text/javascript; charset=utf-8"),
    "/view.css": ("view.css", "text/css; charset=utf-8"),
}
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_INTEGER_MAX: Final = 1 << 53
_BODY_BYTES_MAX: Final = 1 << 20
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class ViewServer(ThreadingHTTPServer):
    """Serves one page.

    Args:
        runs: that it shows.
        port: to listen at; 0 for any that is free.
        trust: options by which a command trusts the records.

    Attributes:
        url: with the token.

    Raises:
        UsageError: E-USE-001, the port is in use.
    """

    daemon_threads = True

    def __init__(self, runs: ViewedRuns, port: int, trust: Sequence[str] = ()) -> None:
        self.runs, self.executions = runs, Executions(trust)
        self.token = secrets.token_urlsafe()
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise UsageError(
                f"Port {port} of this machine cannot be used: {error.strerror}.",
                "Expected a port that is free.",
                "Choose another one, or 0 for any: --port 0",
                port=port,
            ) from error
        self.url = f"http://{HOST}:{self.server_port}/?token={self.token}"

    def server_close(self) -> None:
        """End what was started from the page, and stop listening."""
        self.executions.close()
        super().server_close()

    def execute(self, command: str, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Do what a person asked for on the page.

        Args:
            command: ``diagnose``, ``branch``, ``replay`` or ``lines``, or ``stop`` for one of them.
            asked: its parameters; ``execution`` names it.

        Raises:
            UsageError: E-USE-001. TwiceError: as the command says it.
        """
        execution = str(asked.get("execution", ""))
        try:
            if command == "stop":
                self.executions.stop(str(asked["execution"]))
                return {}
            if command == "diagnose":
                a, b = (self.runs.path_of(int(asked[name])) for name in ("a", "b"))
                return self.executions.diagnose(a, b, execution=execution)
            if command in {"replay", "lines"}:
                path, tick = self.runs.path_of(int(asked["run"])), int(asked["tick"])
                do = self.executions.replay if command == "replay" else self.executions.find_lines
                return do(path, tick, execution=execution)
            if command == "branch":
                inputs = {str(name): str(text) for name, text in dict(asked["inputs"]).items()}
                out = self.executions.branch(
                    self.runs.path_of(int(asked["run"])),
                    int(asked["tick"]),
                    inputs,
                    onwards=bool(asked.get("onwards")),
                    execution=execution,
                )
                # All runs: the branches of other tabs have numbers, too.
                return self.runs.add(out) | self.runs.answer("session", {})
        except (KeyError, ValueError, TypeError, OverflowError) as error:
            raise _refuse(f"{command} was asked for with {error}") from error
        raise _refuse(f"{command!r} was asked for")


class _Handler(BaseHTTPRequestHandler):
    server: ViewServer
    protocol_version = "HTTP/1.1"
    timeout = 60  # a client that hangs keeps a thread, no longer than this

    def handle(self) -> None:
        with suppress(ConnectionError):  # the browser ended between two requests
            super().handle()

    def do_GET(self) -> None:
        asked = self._authorize()
        if asked is None:
            return
        path = self.path.partition("?")[0]
        if path in _STATIC:
            name, kind = _STATIC[path]
            content = _read_static(name).replace(b"__TOKEN__", self.server.token.encode())
            self._send(HTTPStatus.OK, kind, content)
        else:
            question = path.removeprefix("/api/")
            self._answer(partial(self.server.runs.answer, question, asked))

    def do_POST(self) -> None:
        if self._authorize() is None:
            return
        length = self.headers.get("Content-Length", "")
        self.close_connection = True  # what is left of a refused body is no request
        command = self.path.partition("?")[0].removeprefix("/api/")

        def execute() -> dict[str, Any]:
            if self.headers.get_content_type() != "application/json":
                raise _refuse(f"{command} was asked for in another form than JSON")
            if not length.isdecimal() or int(length) > _BODY_BYTES_MAX:
                raise _refuse(f"{command} was asked for with {length or 'no'} bytes")
            try:
                asked = json.loads(self.rfile.read(int(length)))
            except (ValueError, RecursionError) as error:
                raise _refuse(f"{command} was asked for with what is no JSON") from error
            return self.server.execute(command, asked if isinstance(asked, dict) else {})

        self._answer(execute)

    def _authorize(self) -> Mapping[str, str] | None:
        """Return the parameters of a request that may be answered; refuse any other."""
        query = self.path.partition("?")[2]
        asked = {name: texts[-1] for name, texts in parse_qs(query).items()}
        token = self.headers.get("X-Twice-Token") or asked.pop("token", "")
        names = {f"{name}:{self.server.server_port}" for name in (HOST, "localhost")}
        origin = self.headers.get("Origin")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            refused = "The token is missing, or it is another one."
        elif self.headers.get("Host") not in names:
            refused = "The page was asked for under another name than this machine's."
        elif origin and origin.removeprefix("http://") not in names:
            refused = "Another site asked."
        else:
            return asked
        self.close_connection = True
        error = UsageError(
            refused, "Expected the address that `twice view` printed.", "Open that address."
        )
        self._send_error(HTTPStatus.FORBIDDEN, error)
        return None

    def _answer(self, ask: Callable[[], dict[str, Any]]) -> None:
        try:
            answer = ask()
            content = json.dumps(_tell_integers(answer)).encode()
        except TwiceError as error:
            self._send_error(HTTPStatus.BAD_REQUEST, error)
        except Exception as error:  # noqa: BLE001  (a page without an answer says that the server is gone)
            self._send_error(HTTPStatus.INTERNAL_SERVER_ERROR, _explain_defect(error))
        else:
            self._send(HTTPStatus.OK, "application/json", content)

    def _send_error(self, status: HTTPStatus, error: TwiceError) -> None:
        self._send(status, "application/json", json.dumps({"error": tell_error(error)}).encode())

    def _send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        headers = {"Content-Type": kind, "Content-Length": str(len(content)), **_HEADERS}
        for name, value in headers.items():
            self.send_header(name, value)
        with suppress(ConnectionError):  # the page went on to something else
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: an address has the token in it."""


@cache
def _read_static(name: str) -> bytes:
    return files("twice.view").joinpath("static", name).read_bytes()


def _tell_integers(value: Any) -> Any:
    """Return an answer whose large integers are ``{"integer": text}``: a page has 53 bits for a number."""
    if isinstance(value, dict):
        return {name: _tell_integers(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_tell_integers(each) for each in value]
    if isinstance(value, int) and abs(value) >= _INTEGER_MAX:
        return {"integer": str(value)}
    return value


def _explain_defect(error: Exception) -> UsageError:
    return UsageError(
        f"twice could not answer this: {type(error).__name__}: {error}.",
        "Expected an answer or one of its own errors: this is a defect of twice.",
        "Report it with the record, if you may. The page goes on with everything else.",
    )


def _refuse(happened: str) -> UsageError:
    return UsageError(f"{happened}.", "Expected a request of the page.", "Open the page anew.")
