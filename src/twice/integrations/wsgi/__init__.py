"""WSGI applications under a run: each request is an input and a tick, each response is compared.

    from twice.integrations import wsgi

    def main(run):
        wsgi.record(application, run).serve(start)

    def start(service):
        wsgiref.simple_server.make_server("127.0.0.1", 8000, service).serve_forever()

Invariant: in replay the application is called with the recorded requests, and ``start`` is not.
"""

from __future__ import annotations

from twice.integrations.wsgi.application import Service, record

__all__ = ["Service", "record"]
