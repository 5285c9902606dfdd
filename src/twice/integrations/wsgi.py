"""WSGI applications under a run: each request is an input and a tick, each response is compared.

    from twice.integrations import wsgi

    def main(run):
        wsgi.record(application, run).serve(start)

    def start(service):
        wsgiref.simple_server.make_server("127.0.0.1", 8000, service).serve_forever()

The application is given an environ made from the request alone: what a particular server adds
besides is left out, because a replay has no server. Its response is taken whole before it is sent.

Not covered: streaming, ``wsgi.file_wrapper``, two requests at the same time.

Invariant: in replay the application is called with the recorded requests, and ``start`` is not; its environ
is a function of the request.

Source: PEP 3333.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from twice.errors import EffectRefused
from twice.integrations.services import HttpRequest, HttpResponse, RecordedService
from twice.recorder.run import Run

Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]
_UNPREFIXED = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}


def record(app: Application, run: Run, *, name: str = "service") -> WsgiService:
    """Put a WSGI application under a run, as a service of that name in the record."""
    return WsgiService(app, run, name)


class WsgiService(RecordedService):
    """A WSGI application under a run; itself a WSGI application, for a server to call."""

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Hand a server's request to the main program and wait for its response."""
        answer = self.queue.put(_request(environ))
        try:
            response = answer.result()
        except BaseException:
            self.queue.note_delivery()
            raise
        start_response(f"{response.status} {response.reason}", list(response.headers))
        return _SentBody(response.body, self.queue.note_delivery)

    def _handle(self, request: HttpRequest) -> HttpResponse:
        return _respond(self._app, _environ(request))


class _SentBody:
    """A body in one piece, that says when the server is done with it."""

    def __init__(self, body: bytes, sent: Callable[[], None]) -> None:
        self._body, self._sent = body, sent

    def __iter__(self) -> Iterator[bytes]:
        return iter((self._body,) if self._body else ())

    def __len__(self) -> int:
        # Servers set Content-Length by themselves for a body of one piece.
        return 1 if self._body else 0

    def close(self) -> None:
        self._sent()


def _request(environ: Environ) -> HttpRequest:
    """Read a request from a server's environ, with its body to the end."""
    body: Any = environ["wsgi.input"]
    length = environ.get("CONTENT_LENGTH") or ""
    headers = [
        (key[5:].replace("_", "-").lower(), str(value))
        for key, value in environ.items()
        if key.startswith("HTTP_")
    ]
    for header, key in _UNPREFIXED.items():
        if environ.get(key):
            headers.append((header, str(environ[key])))
    if length:
        data = body.read(int(length))
    else:
        data = body.read() if environ.get("wsgi.input_terminated") else b""
    return HttpRequest(
        method=environ["REQUEST_METHOD"],
        path=environ.get("PATH_INFO", ""),
        query=environ.get("QUERY_STRING", ""),
        headers=tuple(headers),
        body=data,
        scheme=environ["wsgi.url_scheme"],
        root=environ.get("SCRIPT_NAME", ""),
        server=(environ["SERVER_NAME"], int(environ["SERVER_PORT"])),
        client=(environ.get("REMOTE_ADDR", ""), int(environ.get("REMOTE_PORT") or 0)),
        protocol=environ.get("SERVER_PROTOCOL", "HTTP/1.1"),
    )


def _environ(request: HttpRequest) -> Environ:
    """Build the environ that the application gets."""
    environ: Environ = {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": request.root,
        "PATH_INFO": request.path,
        "QUERY_STRING": request.query,
        "SERVER_NAME": request.server[0],
        "SERVER_PORT": str(request.server[1]),
        "SERVER_PROTOCOL": request.protocol,
        "REMOTE_ADDR": request.client[0],
        "REMOTE_PORT": str(request.client[1]),
        "CONTENT_LENGTH": str(len(request.body)) if request.body else "",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": request.scheme,
        "wsgi.input": io.BytesIO(request.body),
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": False,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in request.headers:
        if name == "content-length":
            continue  # The body is whole: its length is what it is.
        key = _UNPREFIXED.get(name) or "HTTP_" + name.upper().replace("-", "_")
        environ[key] = f"{environ[key]},{value}" if key in environ else value
    return environ


def _respond(app: Application, environ: Environ) -> HttpResponse:
    """Call the application and take its response whole."""
    started: list[tuple[str, list[tuple[str, str]]]] = []
    pieces: list[bytes] = []

    def start_response(status: str, headers: Any, exc_info: Any = None) -> Callable[[bytes], None]:
        if started and exc_info is None:
            raise AssertionError("start_response was called twice without exc_info (PEP 3333)")
        started[:] = [(status, [(str(name), str(value)) for name, value in headers])]
        return pieces.append

    result = app(environ, start_response)
    try:
        pieces.extend(result)
    finally:
        close = getattr(result, "close", None)
        if close is not None:
            close()
    if not started:
        raise AssertionError("the application did not call start_response (PEP 3333)")
    status, headers = started[0]
    code, _, reason = status.partition(" ")
    with contextlib.suppress(ValueError):
        return HttpResponse(int(code), reason, tuple(headers), b"".join(pieces))
    raise EffectRefused(
        f"The application answered with the status {status!r:.60}.",
        "Expected a code of three digits, a space and a reason.",
        'For example: start_response("200 OK", [...]).',
    )
