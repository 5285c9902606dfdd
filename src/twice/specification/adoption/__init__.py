"""Sheets that another workflow wrote as prose, taken over: a head of this schema over each.

Lives here: the answers of a prose sheet (``prose``), the words by which it names keys and values (``labels``), their
values where they leave no doubt (``answers``), and the workspace that is made of a folder (``adopt``).

Invariant: nothing is guessed. An answer that could mean two things is "?", and the reason is told.
"""
