"""Live objects read without running their code, and digested by type and path.

Not here: when an object is looked at (``tracing``) and what its difference means (``localization``).

Invariant: looking changes nothing; no property, descriptor or ``__getattr__`` of the user's runs.
"""
