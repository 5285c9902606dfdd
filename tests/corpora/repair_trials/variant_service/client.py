"""A client that calls a WSGI application without a network."""

from urllib.parse import urlencode
from wsgiref.util import setup_testing_defaults


class ServiceClient:
    """Sends requests to an application in this process."""

    def __init__(self, application) -> None:
        self._application = application

    def get(self, path: str, query: dict[str, str]) -> tuple[str, str]:
        """Return the status line and the body of an answer."""
        environ = {"PATH_INFO": path, "QUERY_STRING": urlencode(query)}
        setup_testing_defaults(environ)
        answered: list[str] = []
        parts = self._application(environ, lambda status, headers: answered.append(status))
        return answered[0], b"".join(parts).decode("utf-8")
