"""A script that never heard of recording: it asks the world one thing many times, and says how long it took.

Usage: python asking.py THING COUNT ROUNDS [PORT] [--under PEER PATH]

THING: clock, urandom, variable, socket, http. Prints one JSON line: microseconds of one call, by round,
as the wall clock of the process shows it. PEER: time-machine, or vcr with the cassette's path.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack


def asker(thing: str, port: int) -> Callable[[], object]:
    """Return the call to measure."""
    if thing == "clock":
        return time.time
    if thing == "urandom":
        return lambda: os.urandom(16)
    if thing == "variable":
        return lambda: os.environ["HOME"]
    if thing == "socket":
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        data = b"x" * 1024

        def round_trip() -> None:
            connection.sendall(data)
            left = 1024
            while left:
                left -= len(connection.recv(left))

        return round_trip
    import requests

    session = requests.Session()
    session.trust_env = False
    return lambda: session.get(f"http://127.0.0.1:{port}/").content


def main() -> None:
    arguments = sys.argv[1:]
    with ExitStack() as stack:
        if "--under" in arguments:
            at = arguments.index("--under")
            peer, path = arguments[at + 1 : at + 3]
            del arguments[at:]
            if peer == "vcr":
                import vcr

                stack.enter_context(vcr.use_cassette(path, record_mode="all"))
            else:
                import time_machine

                stack.enter_context(time_machine.travel(time.time()))
        thing, count, rounds = arguments[0], int(arguments[1]), int(arguments[2])
        ask = asker(thing, int(arguments[3]) if len(arguments) > 3 else 0)
        ask()
        taken = []
        for _ in range(rounds):
            start = time.perf_counter()
            for _ in range(count):
                ask()
            taken.append((time.perf_counter() - start) / count * 1e6)
    print(json.dumps(taken))


if __name__ == "__main__":
    main()
