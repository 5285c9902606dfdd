"""A token bucket for each client."""

import time
from dataclasses import dataclass


@dataclass
class Bucket:
    """Tokens of one client, as they were at a moment in seconds."""

    tokens: float
    moment: float


class RateLimiter:
    """Lets a client make ``burst`` requests at once and ``rate`` more each second."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate = rate
        self._burst = burst
        self._buckets: dict[str, Bucket] = {}

    def allow(self, client: str) -> bool:
        """Take a token of a client, if there is one."""
        now = time.monotonic()
        bucket = self._buckets.setdefault(client, Bucket(self._burst, now))
        gained = (now - bucket.moment) * self._rate
        bucket.tokens = min(self._burst, bucket.tokens + gained)
        bucket.moment = now
        if bucket.tokens < 1:
            return False
        bucket.tokens -= 1
        return True

    def clients(self) -> list[str]:
        """Return all clients seen so far."""
        return sorted(set(self._buckets))
