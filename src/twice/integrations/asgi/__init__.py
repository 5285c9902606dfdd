"""ASGI applications under a run: each request is an input and a tick, each response is compared.

    from twice.integrations import asgi

    def main(run):
        asgi.record(application, run).serve(start)

    def start(service):
        uvicorn.run(service, port=8000, access_log=False)

Invariant: in replay the application is called with the recorded requests, and ``start`` is not.
"""

from __future__ import annotations

from twice.integrations.asgi.application import Service, record

__all__ = ["Service", "record"]
