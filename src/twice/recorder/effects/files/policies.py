"""What a record holds of the contents of files, as the user says it.

``digest``: what a file holds is compared by its digest; what nobody else could have is carried whole.
``contents``: everything that is read is carried whole, so a replay needs none of the files.
``none``: nothing is recorded or compared; writes are kept away in replay all the same.
"""

from __future__ import annotations

from typing import Literal, get_args

from twice.errors import UsageError

Policy = Literal["digest", "contents", "none"]


def parse_files(text: str) -> Policy:
    """Read a policy.

    Raises:
        UsageError: E-USE-001, when it is none of the three.
    """
    for policy in get_args(Policy):
        if policy == text:
            return policy  # type: ignore[no-any-return]
    raise UsageError(
        f"There is no policy {text!r} for files.",
        f"Expected {', '.join(get_args(Policy))}.",
        "For example: --files contents",
    )
