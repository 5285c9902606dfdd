"""The receipt service: one JSON document a line, one answer a line."""

import asyncio
import json
import sys
import time

from limiter import RateLimiter
from receipts import ReceiptBook


class ReceiptService:
    """Signs receipts for clients that do not ask too often.

    A request has a ``number``, the ``client``, the amount in ``cents`` and ``at_ms``: when the
    front door accepted it, in milliseconds since the front door was opened.
    """

    def __init__(self, settings: dict) -> None:
        self._limiter = RateLimiter(settings["rate_per_s"], settings["burst"])
        self._book = ReceiptBook(settings["key"], settings["seed"])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        begun = time.monotonic()
        count = 0
        while line := await reader.readline():
            writer.write(self.answer(json.loads(line)).encode() + b"\n")
            await writer.drain()
            count += 1
        writer.close()
        clients = len(self._limiter.clients())
        elapsed = time.monotonic() - begun
        print(f"{count} requests of {clients} clients in {elapsed:.2f} s", file=sys.stderr)

    def answer(self, request: dict) -> str:
        """Return the answer to one request."""
        if request["cents"] <= 0:
            return "400 nothing to pay"
        if not self._limiter.allow(request["client"]):
            return "429 too many requests"
        return f"200 {self._book.sign(request['client'], request['cents'])}"
