"""How evidence is made: every kind runs or reads something real.

A kind is made from an ``EvidenceContext``, or ``MissingEvidence`` says why not. Code of users runs in
processes of its own, never in this one.

Invariant: making evidence leaves nothing behind in the project.
"""
