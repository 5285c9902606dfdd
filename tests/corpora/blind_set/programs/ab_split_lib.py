"""Who sees what: the same user always the same arm."""

import functools
import hashlib


def audience(count):
    """Names of users; a digest makes them look like the real ones."""
    return [f"u-{hashlib.sha1(str(k).encode()).hexdigest()[:8]}" for k in range(count)]  # innocent


class Splitter:
    def __init__(self, arms):
        self.arms = tuple(arms)
        self._pick = functools.lru_cache(maxsize=None)(self._choose)

    def _choose(self, user):
        return hash(user) % len(self.arms)  # guilty

    def warm(self, users):
        """Fill the cache before the doors open."""
        for user in users:
            self._pick(user)

    def arm(self, user):
        return self.arms[self._pick(user)]
