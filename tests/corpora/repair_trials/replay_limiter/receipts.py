"""Numbers and signatures of receipts."""

import hashlib
import random

WORK = 4_000


class ReceiptBook:
    """Signs receipts; the nonces come from the seed in the settings."""

    def __init__(self, key: str, seed: int) -> None:
        self._key = key.encode()
        self._nonces = random.Random(seed)
        self._count = 0

    def sign(self, client: str, cents: int) -> str:
        """Return a new receipt."""
        self._count += 1
        nonce = f"{self._nonces.getrandbits(40):010x}"
        text = f"{self._count}/{client}/{cents}/{nonce}".encode()
        digest = hashlib.pbkdf2_hmac("sha256", text, self._key, WORK).hex()
        return f"R{self._count:04}-{nonce}-{digest[:12]}"
