"""WORDS. Pure values and laws: canonical form, digests, seeds, classes, comparison, channels.

Nothing here runs a program. Code that reads the clock, the disk, the environment or a generator's position
is part of ``recorder``.

Invariant: every function here is a function of its arguments alone.
"""
