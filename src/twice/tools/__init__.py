"""TOOLS UNDER CONTRACT. Functions that declare what they promise, and a runtime that holds them to it.

Here lives how a tool is declared, what a session contract allows, how a call is carried out and
what comes back. What a tool changes is a backend's business; hosts and processes are ``adapters``.

Invariant: every outcome of a call, whatever was asked, is one envelope.
"""

from twice.errors import ExtraMissing

try:
    import pydantic as _pydantic  # noqa: F401  (asked for here, so that the error names the extra)
except ImportError as error:
    raise ExtraMissing(
        f"pydantic is not installed ({error}).",
        "Tools read their arguments and write their schemas with it.",
        "Install the extra: pip install 'twice[tools]'",
    ) from error

from twice.tools.backend import Backend
from twice.tools.cases import Call, Case
from twice.tools.conditions import Condition
from twice.tools.context import Context
from twice.tools.contract import Contract
from twice.tools.declaring import tool
from twice.tools.determinism import Determinism
from twice.tools.errors import CallRefused
from twice.tools.macros import Step, macro
from twice.tools.needs import Needs
from twice.tools.negotiating import negotiate
from twice.tools.registry import Registry
from twice.tools.session import Session
from twice.tools.templates import Gather, Ref
from twice.tools.tool import Tool

__all__ = [
    "Backend",
    "Call",
    "CallRefused",
    "Case",
    "Condition",
    "Context",
    "Contract",
    "Determinism",
    "Gather",
    "Needs",
    "Ref",
    "Registry",
    "Session",
    "Step",
    "Tool",
    "macro",
    "negotiate",
    "tool",
]
