"""What the WSGI and the ASGI adapter share: requests as values, and the line that they stand in.

Lives here: a request and a response as plain values, how they pass between a server's threads and
the main program, and the loop that makes each request a tick. Does not: WSGI, ASGI, servers.

Invariant: the application runs on the main program alone, one request at a time.
"""

from __future__ import annotations
