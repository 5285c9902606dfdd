"""What the WSGI and the ASGI adapter share: requests as values, and the service that makes each a tick.

Does not live here: WSGI, ASGI, servers.

Invariant: the application runs on the main program alone, one request at a time.
"""

from __future__ import annotations
