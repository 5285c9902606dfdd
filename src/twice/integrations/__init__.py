"""Libraries that programs bring along, made to speak with a run: one module or folder for each.

Here lives what knows a library's names and habits: which of its attributes are state, where its
generators hide, how it is put back. Nothing here is needed to record a run, and no other room
imports this one; each module imports its own library only.

Invariant: an integration refuses what it cannot capture, by name; it never leaves it out in silence.
"""
