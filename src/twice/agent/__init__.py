"""Coding agents: the verbs of twice as tools of the Model Context Protocol, and the pack that teaches their use.

A call is a command of ``twice`` in a process of its own, so that it can be given up, and nothing that a program does
reaches the server. The answer is the command's JSON, cut to what an agent can read at once; the whole is a resource.

Invariant: nothing outside of the roots is read, written or executed.
"""
