"""The specification of a system: what it promises, sheet by sheet, and whether it keeps it.

Lives here: the sheets and what each must say (``schema``, ``sheets/*.yaml``), the workspace that holds them, what follows
from a change (``change_table``), versions and the lock, the gate, costs, and the code that is laid down. What
is read from source code comes in from above: this room does not know the checker.

Invariant: reading a workspace executes nothing, and what could not be read is an error with file and
line, never an absent sheet.
"""
