"""What a tool does while it runs, held against what it declares to need.

``reads.py`` knows the functions and events that read the world, ``watch.py`` puts a watch up for one
tool, finds the line to blame, and takes the watch down.

Python code is seen, C code as far as Python calls it by name. Not seen: a clock that C reads by
itself (``numpy.datetime64("now")``), a C function that C calls (``map(time.time, …)``), files that
are read by their path, the order of a set, addresses, threads' order. It is no sandbox: it finds
mistakes, not malice. Verification is what tries a declaration from outside.

Invariant: after a watch the profiler and the global generators are what they were.
"""

from twice.tools.enforcement.watch import pause_watch, watch_tool

__all__ = ["pause_watch", "watch_tool"]
