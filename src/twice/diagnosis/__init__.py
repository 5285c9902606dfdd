"""WHERE and WHY two runs part.

Here live: executing a window of a run again, tracing it, and naming the first operation whose result
stays different. Not here: recording and replaying, and how a result is printed.

Invariant: a divergence is a result, never an exception; what could not be told is said.
"""
