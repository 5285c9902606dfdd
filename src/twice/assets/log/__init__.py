"""The determinism log as a value: models, reading, canonical text, drafts, differences, JSON Schema.

The models are the definition; the reader and the schema are derived from them, and a test compares the two. Whether a
log is good enough is for the gate.

Inside, arrows run one way: ``kinds <- block <- renders <- models <- fields <- io, drafts, schema <- diff``.

Invariant: what means "unknown" is never a value; ``{"not_applicable": reason}`` is.
"""

from twice.errors import ExtraMissing

try:
    import pydantic as _pydantic  # noqa: F401  (asked for here, so that the error names the extra)
except ImportError as error:
    raise ExtraMissing(
        f"pydantic is not installed ({error}).",
        "Determinism logs are read with it.",
        "Install the extra: pip install 'twice[assets]'",
    ) from error
