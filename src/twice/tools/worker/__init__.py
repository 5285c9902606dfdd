"""TOOL SESSIONS AS RUNS. A worker executes calls inside a recorded run; a host sends them.

The worker is the run's own process: what tools act on (a scene, tables, Blender) lives there, on the
main thread, with its output captured. The host holds the line to it, replaces it when it dies, and
imports nothing that tools import. Who talks to the host (a command line, an MCP client) lives beside.

Invariant: a call is answered after its compare-point was written, so whatever a client was told is
in the record.
"""
