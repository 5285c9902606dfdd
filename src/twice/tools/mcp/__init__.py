"""MCP. A hosted session offered to hosts of language models over the Model Context Protocol.

Here lives what the protocol's own SDK needs to be told: how a tool is described, how an envelope is
answered, over which transport. Nothing is decided here: validation, refusal and seeds are the
session's, so that every call is answered by an envelope and stands in the record.

Invariant: no tool's code and no backend is imported in the process that serves.
"""
