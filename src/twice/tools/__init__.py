"""TOOLS UNDER CONTRACT. Functions that declare what they promise, and a runtime that holds them to it.

Here lives how a tool is declared, what a session contract allows, how a call is carried out and
what comes back. What a tool changes is a backend's business: see ``scenes``.

Invariant: every outcome of a call, whatever was asked, is one envelope.
"""

from twice.errors import ExtraMissing

try:
    import packaging as _packaging  # noqa: F401  (both asked for here, so that the error names the extra)
    import pydantic as _pydantic  # noqa: F401
except ImportError as error:
    raise ExtraMissing(
        f"{error.name} is not installed ({error}).",
        "Tools read their arguments, schemas and version ranges with pydantic and packaging.",
        "Install the extra: pip install 'twice[tools]'",
    ) from error

from twice.tools.backend import Backend
from twice.tools.cases import Call, Case
from twice.tools.context import Context
from twice.tools.contract import Contract, negotiate
from twice.tools.declaration import Tool, macro, tool
from twice.tools.determinism import Determinism
from twice.tools.errors import CallRefused
from twice.tools.needs import Needs
from twice.tools.registry import Registry
from twice.tools.session import Session

__all__ = [
    "Backend",
    "Call",
    "CallRefused",
    "Case",
    "Context",
    "Contract",
    "Determinism",
    "Needs",
    "Registry",
    "Session",
    "Tool",
    "macro",
    "negotiate",
    "tool",
]
