"""Hypothesis, when it is there: an optional part that this room asks for by one name.

Invariant: nothing of it is imported before it is needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from twice.errors import ExtraMissing


def hypothesis(part: str = "") -> Any:
    """The module ``hypothesis``, or a part of it.

    Raises:
        ExtraMissing: E-EXTRA-001, when it is not installed.
    """
    try:
        return import_module(f"hypothesis.{part}" if part else "hypothesis")
    except ImportError as error:
        raise ExtraMissing(
            f"Hypothesis is not installed ({error}).",
            "The properties generate their examples with it.",
            "Install the extra: pip install 'twice[testing]'",
        ) from error
