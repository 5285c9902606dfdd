"""A request and a response as plain values: what a record holds, and what is compared.

Headers and queries are Latin-1 as they came over the wire, so that every byte has its place; a path is
as the server's protocol gives it (WSGI Latin-1, ASGI UTF-8); bodies are bytes.

Invariant: ``HttpRequest.of(request.plain()) == request``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

from twice.errors import UsageError

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request, complete.

    Attributes:
        method: in capitals, such as ``GET``.
        path: decoded, without the query.
        query: what follows the question mark, as it was sent.
        headers: pairs in the order in which the server gave them, names in small letters.
        body: the whole of it.
        scheme: ``http`` or ``https``.
        root: the part of the path that leads to the application.
        server: name and port under which the server was asked.
        client: address and port of who asked; a port of 0 when the server did not say.
        protocol: such as ``HTTP/1.1``.
        raw_path: the path as it was sent, still encoded; empty where encoding ``path`` gives the same.
    """

    method: str
    path: str
    query: str
    headers: Headers
    body: bytes
    scheme: str = "http"
    root: str = ""
    server: tuple[str, int] = ("localhost", 80)
    client: tuple[str, int] = ("", 0)
    protocol: str = "HTTP/1.1"
    raw_path: str = ""

    def plain(self) -> dict[str, Any]:
        """As a dict of plain values, for a record."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        if not self.raw_path:
            del values["raw_path"]  # requests without one have the bytes they always had
        return values

    @classmethod
    def of(cls, value: object) -> Self:
        """A request from such a dict; what a branch leaves out has its default."""
        try:
            given: dict[str, Any] = dict(value)  # type: ignore[call-overload]
            given["headers"] = tuple((str(n), str(v)) for n, v in given.get("headers", ()))
            given["body"] = bytes(given.get("body", b""))
            given.setdefault("query", "")
            for name in ("server", "client"):
                if name in given:
                    host, port = given[name]
                    given[name] = (str(host), int(port))
            return cls(**given)
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"{value!r:.80} is no request: {error}.",
                f"Expected a dict of {', '.join(one.name for one in fields(cls))}.",
                'For example {"method": "GET", "path": "/", "headers": [["host", "a"]]}.',
            ) from error

    def wire(self) -> bytes:
        """As it would stand on an HTTP/1.1 connection: where redaction looks for secrets."""
        query = "?" + self.query if self.query else ""
        # Both forms of the path: a secret may stand in either.
        paths = [path for path in (self.path, self.raw_path) if path]
        lines = [f"{self.method} {path}{query} HTTP/1.1" for path in paths]
        skipped = ("content-length", "transfer-encoding")
        lines += [f"{name}: {value}" for name, value in self.headers if name not in skipped]
        lines += [f"content-length: {len(self.body)}", "", ""]
        return "\r\n".join(lines).encode("latin-1", "replace") + self.body


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """One response, complete."""

    status: int
    reason: str
    headers: Headers
    body: bytes

    def plain(self) -> dict[str, Any]:
        """As a dict of plain values, for a compare-point."""
        return {one.name: getattr(self, one.name) for one in fields(self)}
