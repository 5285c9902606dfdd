"""Which names are those of secrets: headers, fields of a query, a form or a document.

The words of a name decide, by the rule that environment variables follow too. Some words are clear
(``password``, ``client_secret``); others have innocent meanings (``key``, ``token``), and where
a replay would give the program what was blanked, the value must look like a credential as well.

Invariant: a name's judgement depends on its letters alone, not on their case.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from twice.recorder.environment.variables import is_secret

Judgement = Literal["clear", "likely", "no"]

STEMS = (
    b"token", b"pass", b"secret", b"key", b"cred", b"pwd", b"auth", b"cookie", b"bearer", b"sig",
    b"jwt", b"session",
)  # fmt: skip
"""One of these stands in every name that is a secret's, in small letters."""

COOKIES = (b"cookie", b"set-cookie")

_INNOCENT = frozenset(
    {
        "SEC_WEB_SOCKET_KEY", "SEC_WEBSOCKET_KEY", "IDEMPOTENCY_KEY", "SURROGATE_KEY", "CACHE_KEY", "X_CACHE_KEY",
        "PUBLIC_KEY", "PRIMARY_KEY", "FOREIGN_KEY", "MAX_TOKENS", "PROMPT_TOKENS",
        "COMPLETION_TOKENS", "TOTAL_TOKENS",
    }
)  # fmt: skip
_MORE = re.compile(r"(?:^|_)(?:AUTHORIZATION|SIG|JWT|PWD|SESSION_?ID|CREDENTIALS?)(?:_|$)")
_CLEAR = re.compile(
    r"PASSWORD|PASSWD|PASSPHRASE|PWD|SECRET|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|BEARER|COOKIE|CREDENTIAL"
    r"|AUTHORIZATION|SIGNATURE|JWT|SESSION_?ID|(?:ACCESS|REFRESH|ID|AUTH|SESSION|SECURITY)_?TOKEN"
)
_JOINT = re.compile(rb"(?<=[a-z0-9])(?=[A-Z])")
_CREDENTIAL_MIN = 16


@lru_cache(maxsize=4096)
def judged(name: bytes) -> Judgement:
    """Judge whether a name is a secret's: clearly, likely (its value must look so too), or not."""
    words = _JOINT.sub(b"_", name).decode("latin-1")
    plain = re.sub(r"[^A-Za-z0-9]+", "_", words).strip("_").upper()
    if plain in _INNOCENT or not (is_secret(plain) or _MORE.search(plain)):
        return "no"
    return "clear" if _CLEAR.search(plain) else "likely"


def looks_like_credential(value: bytes) -> bool:
    """Return whether a value can hardly be a word: 16 bytes or more, no space, letters and digits."""
    return (
        len(value) >= _CREDENTIAL_MIN
        and not any(byte <= 0x20 for byte in value)
        and any(0x30 <= byte <= 0x39 for byte in value)
        and any(byte >= 0x41 for byte in value)
    )
