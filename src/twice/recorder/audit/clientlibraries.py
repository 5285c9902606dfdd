"""Libraries that talk to the network in C, past everything that Python could see.

They are found by the modules that are loaded, and by the shared libraries that the process has mapped. A
client that was loaded may have been used, so a run with one does not pass, unless its calls are declared
effects: where effects were declared and no socket of nobody's appeared, the client is taken to have talked
inside of them.

Not for: clients in Python (``requests``, ``aiohttp``, ``asyncpg``), whose sockets are Python's.

Invariant: a library is named by the name that is written after ``import``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

CLIENTS: Mapping[str, str] = {
    "MySQLdb": "libmysqlclient",
    "confluent_kafka": "librdkafka",
    "curl_cffi": "libcurl",
    "gevent": "libev",
    "grpc": "gRPC",
    "mpi4py": "MPI",
    "psycopg": "libpq",
    "psycopg2": "libpq",
    "pycurl": "libcurl",
    "pymssql": "FreeTDS",
    "pynng": "nng",
    "pyodbc": "ODBC",
    "uvloop": "libuv",
    "zmq": "libzmq",
}
_MAPPED = (
    "libpq.",
    "libpq-",
    "libcurl.",
    "libcurl-",
    "libmysqlclient",
    "libmariadb",
    "libzmq",
    "librdkafka",
)


def loaded_clients() -> dict[str, str]:
    """Return the loaded client modules, and the library of each."""
    return {name: library for name, library in CLIENTS.items() if name in sys.modules}


def mapped_clients() -> list[str]:
    """Return file names of client libraries that this process has mapped, sorted; only on Linux."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:  # noqa: PTH123
            paths = {line.rstrip("\n").partition("/")[2] for line in maps}
    except OSError:
        return []
    names = {path.rpartition("/")[2] for path in sorted(paths)}
    return sorted(name for name in names if name.startswith(_MAPPED))
