"""RUN ONCE, WRITE DOWN. The execution of a program and the record it leaves.

Here lives everything that touches a running program: streams, tracked components, compare-points,
snapshots, effects, the one module that patches the standard library, and the file they land in.
Judging a record, or two of them, lives upstairs.

Invariant: record and replay are this one code path with a mode, never two programs.
"""
