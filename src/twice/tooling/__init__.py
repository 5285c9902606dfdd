"""TOOLS UNDER CONTRACT. Functions that declare what they promise, and a runtime that holds them to it.

Here lives how a tool is declared, what a session contract allows, how a call is carried out and
what comes back. What a tool changes is a backend's business; hosts and processes are ``adapters``.

Invariant: every outcome of a call, whatever was asked, is one envelope.
"""
