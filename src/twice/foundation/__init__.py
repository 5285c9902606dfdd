"""WORDS. Pure values and laws: canonical form, digests, seeds, classes, comparison, channels.

Here lives what can be said without running anything. What reads the clock, the disk, the
environment or a generator's position lives in ``recording``.

Invariant: every function here is a function of its arguments alone.
"""
