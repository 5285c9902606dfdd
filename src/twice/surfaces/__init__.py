"""WHAT PEOPLE SEE. The command line and the report; they ask the rooms below and word the answer.

Invariant: nothing is decided here; the same question through the library has the same answer.
"""
