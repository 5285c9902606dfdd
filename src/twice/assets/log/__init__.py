"""The determinism log as a value: blocks, kinds of values, reading, canonical text, schemas.

The dataclasses are the definition. The reader and the JSON Schemas are both derived from them, and
a test holds the two against each other. Whether a log is good enough is for the gate.

Inside, arrows run one way: ``kinds, declaring <- blocks <- log <- reading, schema <- text``.

Invariant: what means "unknown" is never a value; ``{"not_applicable": reason}`` is.
"""
