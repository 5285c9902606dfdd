"""One tick written to a file, for a verdict on another machine.

Not here: how a trace is made (``tracing``) and what two of them say (``locating``).

Invariant: a file from a stranger is data; it is checked against its digest and never executed.
"""
