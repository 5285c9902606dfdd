"""One window of a running program, written down event by event.

Here live: the plans that say what to look at, the hooks of 3.11 and of 3.12 and later behind one
interface, and the plain data that comes back. Not here: comparing two traces (``localization``).

Invariant: a traced program computes what it computes untraced.
"""
