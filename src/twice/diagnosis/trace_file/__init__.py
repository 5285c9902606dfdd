"""One tick written to a file, for a verdict on another machine: what a file holds, writing, comparing.

How a trace is made is in ``tracing``; what two of them say, in ``localization``.

Invariant: a file from a stranger is data; it is checked against its digest and never executed.
"""
