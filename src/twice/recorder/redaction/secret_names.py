"""Judge whether a name is a secret's: of a variable, a header, a field of a query, a form or a document.

The words of a name decide. Some are clear (``password``, ``client_secret``). Others have innocent meanings (``key``,
``token``), and where a replay would give the program the stars, the value must look like a credential as well.

Invariant: a name's judgement depends on its letters alone, not on their case.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

Judgement = Literal["clear", "likely", "no"]

STEMS: Final = (
    b"token", b"pass", b"secret", b"key", b"cred", b"pwd", b"auth", b"cookie", b"bearer", b"sig",
    b"jwt", b"session",
)  # fmt: skip
"""Text is looked through for these first: one stands in every name in it that is a secret's, in small letters."""

_WORDS = (
    r"[A-Z0-9]*(?:TOKEN|PASSWORD|PASSWD|PASSPHRASE|SECRET|APIKEY|CREDENTIAL)S?"
    r"|KEYS?|(?<=_)PWD|PASS|AUTH|COOKIE|BEARER|SIGNATURE|DSN"
)
# In a message these are secrets, too; a variable PWD is a folder, and SIG a signal.
_MESSAGE_WORDS = r"|AUTHORIZATION|SIG|JWT|PWD|SESSION_?ID|CREDENTIALS?"
_IN_VARIABLE = re.compile(rf"(?:^|_)(?:{_WORDS})(?:_|$)")
_IN_MESSAGE = re.compile(rf"(?:^|_)(?:{_WORDS}{_MESSAGE_WORDS})(?:_|$)")
_CLEAR = re.compile(
    r"PASSWORD|PASSWD|PASSPHRASE|PWD|SECRET|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|BEARER|COOKIE|CREDENTIAL"
    r"|AUTHORIZATION|SIGNATURE|JWT|SESSION_?ID|(?:ACCESS|REFRESH|ID|AUTH|SESSION|SECURITY)_?TOKEN"
)
_INNOCENT = frozenset(
    {
        "SEC_WEB_SOCKET_KEY", "SEC_WEBSOCKET_KEY", "IDEMPOTENCY_KEY", "SURROGATE_KEY", "CACHE_KEY", "X_CACHE_KEY",
        "PUBLIC_KEY", "PRIMARY_KEY", "FOREIGN_KEY", "MAX_TOKENS", "PROMPT_TOKENS",
        "COMPLETION_TOKENS", "TOTAL_TOKENS",
    }
)  # fmt: skip
_JOINT = re.compile(rb"(?<=[a-z0-9])(?=[A-Z])")
_CREDENTIAL_MIN = 16


def is_secret(name: str) -> bool:
    """Return whether a variable's name marks its value as secret (``API_KEY``, ``DB_PASSWORD``).

    Judged by the words of the name: ``PYTHON_KEYRING`` is not a key, ``GITHUBTOKEN`` is a token.
    """
    return _IN_VARIABLE.search(name.upper()) is not None


@lru_cache(maxsize=4096)
def judge(name: bytes) -> Judgement:
    """Judge whether a name in a message is a secret's: clearly, likely (its value must look so too), or not."""
    words = _JOINT.sub(b"_", name).decode("latin-1")
    plain = re.sub(r"[^A-Za-z0-9]+", "_", words).strip("_").upper()
    if plain in _INNOCENT or not _IN_MESSAGE.search(plain):
        return "no"
    return "clear" if _CLEAR.search(plain) else "likely"


def is_secret_value(name: bytes, value: bytes, *, given: bool) -> bool:
    """Return whether a value behind a name is a secret.

    Args:
        name: what stands before the value.
        value: what may be the secret.
        given: whether the program is given the value, and a replay would give it blanked.
    """
    judgement = judge(name)
    if judgement == "likely":
        return not given or looks_like_credential(value)
    return judgement == "clear"


def looks_like_credential(value: bytes) -> bool:
    """Return whether a value can hardly be a word: 16 bytes or more, no space, letters and digits."""
    return (
        len(value) >= _CREDENTIAL_MIN
        and not any(byte <= 0x20 for byte in value)
        and any(0x30 <= byte <= 0x39 for byte in value)
        and any(byte >= 0x41 for byte in value)
    )
