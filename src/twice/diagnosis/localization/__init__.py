"""The first operation whose result stays different, found from traces of two sides.

Here live: pairing the events of both sides, looking closer, following a difference back through what
was read, and describing the place. Not here: executing a side; that is a function handed in.

Invariant: a place is named only from what was observed to differ; otherwise candidates are given.
"""
