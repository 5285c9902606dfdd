"""How evidence is made: one file for each kind, every one of them runs or reads something real.

A gatherer takes a ``Bench`` and gives evidence, or says why there is none. Code of users runs in
processes of its own, never in this one.

Invariant: a gatherer leaves nothing behind in the project.
"""
